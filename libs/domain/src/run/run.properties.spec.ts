import { deserialize, serialize } from "node:v8";
import { Backoff } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { OnError, RunStatusSchema, StepStatus, type WorkflowDefinition } from "@forge/protocol/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testContext } from "../testing/context.ts";
import { allOf } from "./chunks.ts";
import { evolve } from "./evolve.ts";
import { allExecutions } from "./executions.ts";
import { artifactOf, inlineBytes } from "./json.ts";
import { valuesOf } from "./outputs.ts";
import { replayRun } from "./replay.ts";
import type { RunCommand } from "./run-command.ts";
import { runDecider } from "./run-decider.ts";
import { isActive, type RunState } from "./state.ts";
import { commandFor, driveToEnd, HAPPENINGS, SIGNAL, STORED } from "./testing/run-driver.ts";
import {
  agentStep,
  functionStep,
  literal,
  path,
  RunStream,
  SEARCH,
  type Step,
  startRun,
  subRunStep,
  template,
  toolStep,
  WRITE,
  waitStep,
  workflow,
} from "./testing/run-fixture.ts";
import { runView } from "./view.ts";

const STEPS_MAX = 5;

/** What a step is like, independent of which others there are. */
const traits = fc.record({
  kind: fc.constantFrom("function", "function", "payment", "search", "write", "absent", "agent", "agent", "sub-run", "signal", "duration", "past", "approval"),
  source: fc.constantFrom("literal", "path", "template", "whole", "state"),
  from: fc.nat(STEPS_MAX - 1),
  needs: fc.array(fc.nat(STEPS_MAX - 1), { maxLength: 2 }),
  when: fc.option(fc.integer({ min: -1, max: 3 }), { nil: undefined, freq: 4 }),
  items: fc.option(fc.record({ count: fc.nat(4), concurrency: fc.nat(2), onError: fc.constantFrom(OnError.FAIL_FAST, OnError.CONTINUE) }), {
    nil: undefined,
    freq: 2,
  }),
  declares: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 3 }),
  backoff: fc.constantFrom(Backoff.FIXED, Backoff.EXPONENTIAL),
  delaySeconds: fc.constantFrom(0n, 2n),
  rules: fc.array(fc.record({ threshold: fc.integer({ min: -1, max: 3 }), target: fc.nat(STEPS_MAX), reads: fc.nat(STEPS_MAX - 1) }), { maxLength: 2 }),
  fallback: fc.option(fc.nat(STEPS_MAX), { nil: undefined }),
});

type Trait = typeof traits extends fc.Arbitrary<infer T> ? T : never;

const INNER = workflow([functionStep("x")], { id: "inner", inputs: [{ name: "it" }] });

const definitions = fc
  .record({
    steps: fc.array(traits, { minLength: 1, maxLength: STEPS_MAX }),
    isGraph: fc.boolean(),
    onError: fc.constantFrom(OnError.FAIL_FAST, OnError.CONTINUE),
    parallelMax: fc.nat(3),
    hasDeadline: fc.boolean(),
  })
  .map(({ steps, isGraph, onError, parallelMax, hasDeadline }): WorkflowDefinition => {
    const needsAt = (index: number): readonly number[] => (isGraph && index > 0 ? [...new Set((steps[index] as Trait).needs.map((need) => need % index))] : []);
    return workflow(
      steps.map((trait, index) => stepOf(trait, index, steps.length, isGraph, needsAt(index))),
      { onError, parallelMax, ...(hasDeadline ? { deadline: { seconds: 1_000n } } : {}) },
    );
  });

function stepOf(trait: Trait, index: number, count: number, isGraph: boolean, needs: readonly number[]): Step {
  const id = `s${index}`;
  const idAt = (at: number): string => `s${at % count}`;
  const targetAt = (at: number): string => (at >= count ? "end" : `s${at}`);
  // A graph's step reads what it needs; a sequence's any, whether it has been there or not.
  const readable = isGraph ? needs[trait.from % Math.max(1, needs.length)] : index === 0 ? undefined : trait.from % count;
  const from = readable === undefined ? undefined : idAt(readable);
  const sources =
    from === undefined
      ? undefined
      : {
          literal: literal(1),
          path: path(`steps.${from}.v`),
          template: template(`{{ state.steps.${from}.v }}`),
          whole: path(`steps.${from}`),
          state: literal(2),
        };
  const own: Omit<Step, "id" | "kind"> = {
    needs: needs.map(idAt),
    when: trait.when !== undefined && isGraph && from !== undefined && needs.length > 0 ? `state.steps.${from}.v > ${trait.when}` : "",
    next: isGraph ? [] : trait.rules.map((rule) => ({ when: `state.steps.${idAt(rule.reads)}.v > ${rule.threshold}`, goto: targetAt(rule.target) })),
    nextDefault: isGraph || trait.fallback === undefined ? undefined : targetAt(trait.fallback),
  };
  const work: Omit<Step, "id" | "kind"> = {
    ...own,
    inputs: trait.source === "state" ? {} : { it: sources?.[trait.source] ?? literal(0) },
    outputs: trait.declares ? ["v"] : [],
    retry: { attempts: trait.attempts, backoff: trait.backoff, initialDelay: { seconds: trait.delaySeconds } },
    forEach: trait.items && { ...trait.items, items: literal(Array.from({ length: trait.items.count }, (_, at) => at)) },
  };
  switch (trait.kind) {
    case "function":
    case "payment":
      return functionStep(id, { ...work, notIdempotent: trait.kind === "payment" });
    case "agent":
      return agentStep(id, { ...work, prompt: trait.source === "path" ? "{{ inputs.it }}" : "{{ state.runtime.run_id }}" });
    case "sub-run":
      return subRunStep(id, INNER, work);
    case "signal":
      return waitStep(id, { case: "signal", value: SIGNAL }, { ...own, ...(trait.declares ? { timeout: { seconds: 60n } } : {}) });
    case "duration":
      return waitStep(id, { case: "duration", value: { seconds: 5n } }, own);
    case "past":
      return waitStep(id, { case: "until", value: literal("2020-01-01T00:00:00Z") }, own);
    case "approval":
      return waitStep(id, { case: "approval", value: { question: "Really?" } }, own);
    default:
      return toolStep(id, trait.kind === "search" ? SEARCH.name : trait.kind === "write" ? WRITE.name : "tools.absent", work);
  }
}

const scripts = fc.array(fc.record({ happening: fc.constantFrom(...HAPPENINGS), value: fc.integer({ min: 0, max: 3 }), pick: fc.nat(5) }), { maxLength: 30 });

const ENDS = new Set(["runCompleted", "runFailed", "runCancelled"]);
const EXECUTION_ENDS = new Set(["stepCompleted", "stepFailed", "stepCancelled"]);
const CALL_ENDS = new Set(["toolCompleted", "toolFailed", "toolCancelled", "toolSettledUnknown"]);

/** A run, and the seqs at which an append ended. */
function play(definition: WorkflowDefinition, script: typeof scripts extends fc.Arbitrary<infer T> ? T : never): { run: RunStream; appends: number[] } {
  const run = newRun();
  const appends: number[] = [];
  const seen = new Set<string>();
  let open: readonly string[] = [];
  const check = (): void => {
    appends.push(run.seq);
    const keys = run.outstanding().map((task) => task.key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(seen.has(key) && !open.includes(key), `${key} came back`).toBe(false);
    for (const key of keys) seen.add(key);
    open = keys;
    if (isActive(run.state)) expect(waitsForSomething(run), "the run waits for something").toBe(true);
    else expect(keys).toEqual([]);
    checkWeights(run);
  };
  run.must(startRun(definition));
  check();
  let previous: RunCommand | undefined;
  for (const { happening, value, pick } of script) {
    run.nowMs += 1_000;
    const command = commandFor(run, happening, value, pick, previous);
    if (command === undefined) continue;
    previous = command;
    if (run.execute(command).rejection === undefined) check();
  }
  return { run, appends };
}

/** A deadline alone is nothing that a run goes on by. */
function waitsForSomething(run: RunStream): boolean {
  const { executions, paused } = run.state;
  const elsewhere = allExecutions(executions).some(
    ({ sessionId, childRunId, wait }) => sessionId !== "" || childRunId !== "" || wait?.signal || wait?.approvalId,
  );
  return paused || elsewhere || run.outstanding().some(({ key }) => !key.startsWith("deadline"));
}

/** What the outputs weigh, counted anew. */
function checkWeights({ state }: RunStream): void {
  const outputs = [
    ...allOf(state.steps).flatMap(valuesOf),
    ...allExecutions(state.executions).flatMap(({ group }) => (group === undefined ? [] : allOf(group.outputs))),
  ];
  expect(state.outputBytes).toBe(outputs.reduce((sum, output) => sum + inlineBytes(output), 0));
  expect(state.artifactOutputCount).toBe(outputs.filter((output) => artifactOf(output) !== undefined).length);
}

function newRun(): RunStream {
  return new RunStream({ tools: [SEARCH, WRITE], artifacts: { [STORED]: '{"v":1}' } });
}

/** As after a restart: the state comes from a snapshot of the folded events. */
function restart(events: readonly Event[], nowMs: number): RunStream {
  const run = newRun();
  run.state = deserialize(serialize(events.reduce(evolve, runDecider.initial()))) as RunState;
  run.events.push(...events);
  run.seq = events.length;
  run.nowMs = nowMs;
  return run;
}

function checkHistory(run: RunStream): void {
  const { events } = run;
  let ended = false;
  let cancelRequested = false;
  let unfinished = 0;
  const executions = new Map<number, number>();
  const calls = new Map<string, number>();
  for (const { payload, toolCallId } of events) {
    const kind = payload.case ?? "";
    if (ended) expect(["runResumed", "toolReportedLate"], `${kind} after the end`).toContain(kind);
    if (kind === "runResumed") ended = false;
    if (ENDS.has(kind)) {
      ended = true;
      expect(unfinished, "nothing is under way at the end").toBe(0);
    }
    if (kind === "runCancelRequested") cancelRequested = true;
    if (payload.case === "stepStarted") {
      expect(cancelRequested).toBe(false);
      if (executions.has(payload.value.executionIndex)) continue;
      expect(payload.value.executionIndex).toBe(executions.size);
      executions.set(payload.value.executionIndex, 0);
      unfinished++;
    } else if (EXECUTION_ENDS.has(kind)) {
      const { executionIndex = -1 } = payload.value as { executionIndex?: number };
      executions.set(executionIndex, (executions.get(executionIndex) ?? 0) + 1);
      unfinished--;
    } else if (payload.case === "toolRequested") calls.set(toolCallId, 0);
    else if (CALL_ENDS.has(kind)) calls.set(toolCallId, (calls.get(toolCallId) ?? 0) + 1);
  }
  expect(ended).toBe(true);
  for (const [execution, count] of executions) expect(count, `execution ${execution} ends once`).toBe(1);
  for (const [call, count] of calls) expect(count, `call ${call} ends once`).toBe(1);
}

/** Each session and each run that works for a step is asked to stop at most once, and only after it was opened. */
function checkSent({ sent }: RunStream): void {
  const opened = new Set<string>();
  const stopped = new Set<string>();
  for (const { command, target } of sent) {
    const id = target?.id ?? "";
    if (command.case === "createSession" || command.case === "startChildRun") {
      expect(opened.has(id)).toBe(false);
      opened.add(id);
    } else if (command.case === "cancelTurn" || command.case === "cancelRun") {
      expect([opened.has(id), stopped.has(id)], `${id} is asked once`).toEqual([true, false]);
      stopped.add(id);
    }
  }
}

/** What was recorded is what follows, also where it is gone through again. */
function checkReplay(run: RunStream): void {
  const context = testContext({ artifacts: run.artifacts });
  expect(replayRun(run.events, true, context).mismatches).toEqual([]);
}

function checkView(run: RunStream): void {
  const view = runView(run.events);
  expect(RunStatusSchema.value[view.status]?.name).toBe(runDecider.listing(run.state).status);
  const open = new Set<StepStatus>([StepStatus.RUNNING, StepStatus.RETRYING, StepStatus.WAITING]);
  expect(view.steps.filter((step) => open.has(step.status))).toEqual([]);
}

describe("any run, whatever happens to it", () => {
  it("ends once, every step and call in it once, and its state is the fold of its events", () => {
    fc.assert(
      fc.property(definitions, scripts, fc.integer({ min: 0, max: 3 }), (definition, script, value) => {
        const { run } = play(definition, script);
        driveToEnd(run, value);
        expect(run.outstanding()).toEqual([]);
        checkHistory(run);
        checkSent(run);
        checkView(run);
        checkWeights(run);
        checkReplay(run);
        expect(run.events.reduce(evolve, runDecider.initial())).toEqual(run.state);
      }),
      { numRuns: 400 },
    );
  });

  it("can be driven to an end from every append", () => {
    fc.assert(
      fc.property(definitions, scripts, fc.nat(), fc.integer({ min: 0, max: 3 }), (definition, script, pick, value) => {
        const { run, appends } = play(definition, script);
        const resumed = restart(run.events.slice(0, appends[pick % appends.length]), run.nowMs);
        driveToEnd(resumed, value);
        checkHistory(resumed);
      }),
      { numRuns: 200 },
    );
  });
});

import { Backoff } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { OnError, RunStatus, RunStatusSchema, StepStatus, type WorkflowDefinition } from "@forge/protocol/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evolve } from "./evolve.ts";
import type { RunCommand } from "./run-command.ts";
import { runDecider } from "./run-decider.ts";
import { isActive } from "./state.ts";
import { commandFor, driveToEnd, HAPPENINGS, STORED } from "./testing/run-driver.ts";
import { agentStep, functionStep, literal, path, RunStream, SEARCH, type Step, startRun, template, toolStep, WRITE, workflow } from "./testing/run-fixture.ts";
import { runView } from "./view.ts";

const STEPS_MAX = 5;

/** What a step is like, independent of which others there are. */
const traits = fc.record({
  kind: fc.constantFrom("function", "function", "payment", "search", "write", "absent", "agent", "agent"),
  source: fc.constantFrom("literal", "path", "template", "whole", "state"),
  from: fc.nat(STEPS_MAX - 1),
  declares: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 3 }),
  backoff: fc.constantFrom(Backoff.FIXED, Backoff.EXPONENTIAL),
  delaySeconds: fc.constantFrom(0n, 2n),
  rules: fc.array(fc.record({ threshold: fc.integer({ min: -1, max: 3 }), target: fc.nat(STEPS_MAX), reads: fc.nat(STEPS_MAX - 1) }), { maxLength: 2 }),
  fallback: fc.option(fc.nat(STEPS_MAX), { nil: undefined }),
});

const definitions: fc.Arbitrary<WorkflowDefinition> = fc
  .record({ steps: fc.array(traits, { minLength: 1, maxLength: STEPS_MAX }), onError: fc.constantFrom(OnError.FAIL_FAST, OnError.CONTINUE) })
  .map(({ steps, onError }) => {
    const idAt = (index: number): string => `s${index % steps.length}`;
    const targetAt = (index: number): string => (index >= steps.length ? "end" : `s${index}`);
    return workflow(
      steps.map((trait, index): Step => {
        const from = idAt(trait.from);
        const sources = { literal: literal(1), path: path(`steps.${from}.v`), template: template(`{{ state.steps.${from}.v }}`), whole: path(`steps.${from}`) };
        const options: Omit<Step, "id" | "kind"> = {
          inputs: trait.source === "state" ? {} : { it: index === 0 ? literal(0) : sources[trait.source] },
          outputs: trait.declares ? ["v"] : [],
          retry: { attempts: trait.attempts, backoff: trait.backoff, initialDelay: { seconds: trait.delaySeconds } },
          next: trait.rules.map((rule) => ({ when: `state.steps.${idAt(rule.reads)}.v > ${rule.threshold}`, goto: targetAt(rule.target) })),
          nextDefault: trait.fallback === undefined ? undefined : targetAt(trait.fallback),
        };
        const id = `s${index}`;
        switch (trait.kind) {
          case "function":
          case "payment":
            return functionStep(id, { ...options, notIdempotent: trait.kind === "payment" });
          case "agent":
            return agentStep(id, { ...options, prompt: trait.source === "path" ? "{{ inputs.it }}" : "{{ state.runtime.run_id }}" });
          default:
            return toolStep(id, trait.kind === "search" ? SEARCH.name : trait.kind === "write" ? WRITE.name : "tools.absent", options);
        }
      }),
      { onError },
    );
  });

const scripts = fc.array(fc.record({ happening: fc.constantFrom(...HAPPENINGS), value: fc.integer({ min: 0, max: 3 }) }), { maxLength: 25 });

const ENDS = new Set(["runCompleted", "runFailed", "runCancelled"]);
const CALL_ENDS = new Set(["toolCompleted", "toolFailed", "toolCancelled", "toolSettledUnknown"]);

/** A run, and the seqs at which an append ended. */
function play(
  definition: WorkflowDefinition,
  script: readonly { happening: (typeof HAPPENINGS)[number]; value: number }[],
): { run: RunStream; appends: number[] } {
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
    if (isActive(run.state)) expect(keys.length > 0 || run.sessionId !== "", "the run waits for something").toBe(true);
    else expect(keys).toEqual([]);
  };
  run.must(startRun(definition));
  check();
  let previous: RunCommand | undefined;
  for (const { happening, value } of script) {
    run.nowMs += 1_000;
    const command = commandFor(run, happening, value, previous);
    if (command === undefined) continue;
    previous = command;
    if (run.execute(command).rejection === undefined) check();
  }
  return { run, appends };
}

function newRun(): RunStream {
  return new RunStream({ tools: [SEARCH, WRITE], artifacts: { [STORED]: '{"v":1}' } });
}

/** As after a restart: the state comes from a snapshot of the folded events. */
function resume(events: readonly Event[], nowMs: number): RunStream {
  const run = newRun();
  run.state = structuredClone(events.reduce(evolve, runDecider.initial()));
  run.events.push(...events);
  run.seq = events.length;
  run.nowMs = nowMs;
  return run;
}

function checkHistory(run: RunStream): void {
  const events = run.events;
  const ends = events.flatMap((event, index) => (ENDS.has(event.payload.case ?? "") ? [index] : []));
  expect(ends).toHaveLength(1);
  expect(events.slice((ends[0] as number) + 1).filter((event) => event.payload.case !== "toolReportedLate")).toEqual([]);

  const cancelRequested = events.findIndex((event) => event.payload.case === "runCancelRequested");
  if (cancelRequested >= 0) expect(events.slice(cancelRequested).filter((event) => event.payload.case === "stepStarted")).toEqual([]);

  const executions = new Map<number, number>();
  const calls = new Map<string, number>();
  let index = -1;
  for (const { payload, toolCallId } of events) {
    if (payload.case === "stepStarted") {
      index = payload.value.executionIndex;
      if (!executions.has(index)) executions.set(index, 0);
    } else if (payload.case === "stepCompleted" || payload.case === "stepFailed") executions.set(index, (executions.get(index) ?? 0) + 1);
    else if (payload.case === "toolRequested") calls.set(toolCallId, 0);
    else if (CALL_ENDS.has(payload.case ?? "")) calls.set(toolCallId, (calls.get(toolCallId) ?? 0) + 1);
  }
  const cancelled = run.state.status === RunStatus.CANCELLED;
  expect([...executions.keys()]).toEqual(Array.from({ length: executions.size }, (_, position) => position));
  for (const [execution, count] of executions) {
    if (cancelled && execution === executions.size - 1) expect(count).toBeLessThanOrEqual(1);
    else expect(count, `execution ${execution} ends once`).toBe(1);
  }
  for (const [call, count] of calls) expect(count, `call ${call} ends once`).toBe(1);
}

function checkView(run: RunStream): void {
  const view = runView(run.events);
  expect(RunStatusSchema.value[view.status]?.name).toBe(runDecider.listing(run.state).status);
  const open = new Set<StepStatus>([StepStatus.RUNNING, StepStatus.RETRYING]);
  expect(view.steps.filter((step) => open.has(step.status) || step.finishedAt === undefined)).toEqual([]);
}

describe("any run, whatever happens to it", () => {
  it("ends once, every step and call in it once, and its state is the fold of its events", () => {
    fc.assert(
      fc.property(definitions, scripts, fc.integer({ min: 0, max: 3 }), (definition, script, value) => {
        const { run } = play(definition, script);
        driveToEnd(run, value);
        expect(run.outstanding()).toEqual([]);
        checkHistory(run);
        checkView(run);
        expect(run.events.reduce(evolve, runDecider.initial())).toEqual(run.state);
      }),
      { numRuns: 400 },
    );
  });

  it("can be driven to an end from every append", () => {
    fc.assert(
      fc.property(definitions, scripts, fc.nat(), fc.integer({ min: 0, max: 3 }), (definition, script, pick, value) => {
        const { run, appends } = play(definition, script);
        const resumed = resume(run.events.slice(0, appends[pick % appends.length]), run.nowMs);
        driveToEnd(resumed, value);
        checkHistory(resumed);
      }),
      { numRuns: 200 },
    );
  });
});

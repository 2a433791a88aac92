import { create, type JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@forge/protocol/common";
import type { Event, StepCompleted, StepFailed, StepStarted } from "@forge/protocol/event";
import { type ReplayedStep, ReplayedStepSchema, type ReplayMismatch, ReplayMismatchSchema, StepStatus } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { shorten } from "../text.ts";
import { goesOnAfter, resolveBranch, withoutOutput } from "./branch.ts";
import { canonicalJson } from "./canonical-json.ts";
import { allOf, itemAt } from "./chunks.ts";
import { evolve } from "./evolve.ts";
import { itemsOf, namesOfItem } from "./for-each.ts";
import { parseJson, readValue } from "./json.ts";
import { findExecution } from "./open-executions.ts";
import { outputJson, outputOf, readOutput } from "./outputs.ts";
import { overwrites } from "./overwrite.ts";
import { renderPrompt } from "./prompt.ts";
import { runtimeOf } from "./scope.ts";
import { executionAt, initialRunState, isGraph, isStopping, positionOf, type RunState, stepAt } from "./state.ts";
import { StateNames } from "./state-names.ts";
import { type Names, stepInput } from "./step-input.ts";
import { withVariant } from "./variants.ts";
import { passedOver } from "./when.ts";
import { workflowHash } from "./workflow-hash.ts";

/** What going through a history again has shown. */
export interface Replay {
  readonly steps: readonly ReplayedStep[];
  /** At most MISMATCHES_MAX. */
  readonly mismatches: readonly ReplayMismatch[];
  readonly state: RunState;
  readonly stateJson: JsonValue | undefined;
}

const MISMATCHES_MAX = 100;
const JSON_SHOWN_MAX = 4_096;

type ReplayContext = Pick<Context, "artifact" | "sha256">;

/** Goes through all of a run's events. With `verify`, decides every step's beginning, branch and end anew on the state that led to it, and compares. Nothing is called. */
export function replayRun(events: readonly Event[], verify: boolean, context: ReplayContext): Replay {
  const replay = new Replayer(verify, context);
  for (const event of events) replay.apply(event);
  return replay.finish();
}

class Replayer {
  readonly #verify: boolean;
  readonly #context: Context;
  readonly #names: StateNames;
  readonly #steps: ReplayedStep[] = [];
  readonly #byIndex = new Map<number, ReplayedStep>();
  readonly #mismatches: ReplayMismatch[] = [];
  #state = initialRunState();
  /** Ended runs let their state go; what it was is kept from before. */
  #last = this.#state;

  constructor(verify: boolean, context: ReplayContext) {
    this.#verify = verify;
    // Beginning and branching read nothing else of it.
    this.#context = context as Context;
    this.#names = new StateNames(context);
  }

  apply(event: Event): void {
    const before = this.#state;
    if (this.#verify) this.#compare(before, event);
    this.#begin(event);
    const after = evolve(before, event);
    this.#state = after;
    if (after.definition !== undefined) this.#last = after;
    this.#end(before, event);
  }

  finish(): Replay {
    const stateJson = this.#verify ? stateOf(this.#last, this.#context) : undefined;
    return { steps: this.#steps, mismatches: this.#mismatches, state: this.#state, stateJson };
  }

  #begin({ payload, stepId, seq }: Event): void {
    if (payload.case === "stepSkipped") {
      this.#steps.push(create(ReplayedStepSchema, { stepId, status: StepStatus.SKIPPED, seq }));
      return;
    }
    if (payload.case !== "stepStarted" || this.#byIndex.has(payload.value.executionIndex)) return;
    const { executionIndex } = payload.value;
    const step = create(ReplayedStepSchema, { stepId, executionIndex, status: StepStatus.RUNNING, stateBeforeHash: this.#hash() });
    this.#steps.push(step);
    this.#byIndex.set(executionIndex, step);
  }

  #end(before: RunState, event: Event): void {
    const { payload } = event;
    const status =
      payload.case === "stepCompleted"
        ? StepStatus.COMPLETED
        : payload.case === "stepFailed"
          ? StepStatus.FAILED
          : payload.case === "stepCancelled"
            ? StepStatus.CANCELLED
            : undefined;
    if (payload.case === "runCreated" || payload.case === "runForked") this.#names.whole(this.#state);
    if (status === undefined || (payload.case !== "stepCompleted" && payload.case !== "stepFailed" && payload.case !== "stepCancelled")) return;
    const execution = findExecution(before, event, payload.value.executionIndex);
    if (execution === undefined) return;
    if (this.#verify && execution.item === undefined) this.#names.step(this.#state, execution.position);
    const step = this.#byIndex.get(execution.executionIndex);
    if (step !== undefined) Object.assign(step, { status, seq: event.seq, stateAfterHash: this.#hash() });
  }

  #hash(): string {
    return this.#verify ? this.#names.hash() : "";
  }

  #compare(state: RunState, event: Event): void {
    const { payload } = event;
    switch (payload.case) {
      case "runCreated": {
        const { definition, workflowHash: recorded } = payload.value;
        if (definition !== undefined) this.#same(event, "payload.workflow_hash", recorded, workflowHash(definition, this.#context));
        return;
      }
      case "stepStarted":
        if (executionAt(state, payload.value.executionIndex) === undefined) this.#compareStart(state, event, payload.value);
        return;
      case "stepSkipped": {
        const position = positionOf(state, event.stepId);
        const passed = position === undefined ? undefined : passedOver(state, position, this.#context);
        const reason = passed !== undefined && "reason" in passed ? passed.reason : "none";
        this.#same(event, "payload.reason", payload.value.reason, reason);
        return;
      }
      case "stepFailed":
        this.#compareFailure(state, event, payload.value);
        return;
      case "stepCompleted":
        this.#compareBranch(state, event, payload.value);
        return;
      case "runCompleted": {
        const output = outputJson(itemAt(state.steps, state.lastPosition));
        this.#sameValue(event, "payload.output", payload.value.output, output);
        this.#same(event, "payload.with_errors", payload.value.withErrors, state.withErrors);
        return;
      }
      default:
        return;
    }
  }

  #compareStart(state: RunState, event: Event, started: StepStarted): void {
    const position = positionOf(state, event.stepId);
    if (position === undefined) return this.#same(event, "step_id", event.stepId, null);
    this.#same(event, "payload.execution_index", started.executionIndex, state.executionCount);
    const step = stepAt(state, position);
    if (step.kind.case === "wait") return;
    if (started.itemCount !== undefined) {
      const items = itemsOf(state, position, this.#context);
      this.#same(event, "payload.item_count", started.itemCount, items.ok ? items.value.count : null);
      return;
    }
    const passed = isGraph(state) ? passedOver(state, position, this.#context) : undefined;
    // Nor was one whose condition could not be evaluated.
    if (passed !== undefined && "error" in passed) return this.#same(event, "payload.input", Object.keys(started.input).sort(), []);
    const names = this.#namesOf(state, started);
    const input = stepInput(state, position, this.#context, names);
    // A step that could not be begun was recorded without an input, and failed.
    if (!input.ok) return this.#same(event, "payload.input", Object.keys(started.input).sort(), []);
    for (const name of new Set([...Object.keys(started.input), ...Object.keys(input.value)])) {
      this.#sameValue(event, `payload.input.${name}`, started.input[name], input.value[name]);
    }
    if (step.kind.case !== "agent" || started.prompt === "") return;
    const prompt = renderPrompt(state, step, withVariant(step.kind.value, started.promptVariant), input.value, this.#context, names);
    this.#same(event, "payload.prompt", started.prompt, prompt.ok ? prompt.value : null);
  }

  #namesOf(state: RunState, { groupIndex, itemIndex }: StepStarted): Names {
    const group = groupIndex === undefined ? undefined : executionAt(state, groupIndex);
    if (group === undefined) return {};
    const names = namesOfItem(state, group, itemIndex ?? 0, this.#context);
    return names.ok ? names.value : {};
  }

  #compareBranch(state: RunState, event: Event, completed: StepCompleted): void {
    const { executionIndex, nextStepId, nextSource, output, overwrote } = completed;
    const execution = findExecution(state, event, executionIndex);
    if (execution === undefined) return this.#same(event, "payload.execution_index", executionIndex ?? null, null);
    const { item, group, position } = execution;
    if (group !== undefined) this.#sameValue(event, `steps.${event.stepId}`, output, outputJson({ output: undefined, items: allOf(group.outputs) }));
    this.#same(event, "payload.overwrote", overwrote, overwrites(state, execution, output));
    if (item !== undefined || isGraph(state) || isStopping(state)) return;
    const branch = resolveBranch(state, position, this.#context, { position, ...outputOf(execution, output) });
    this.#same(event, "payload.next_step_id", nextStepId, branch.stepId);
    this.#same(event, "payload.next_source", nextSource, branch.source);
  }

  #compareFailure(state: RunState, event: Event, { executionIndex, nextStepId, nextSource }: StepFailed): void {
    const execution = findExecution(state, event, executionIndex);
    if (execution === undefined) return this.#same(event, "payload.execution_index", executionIndex ?? null, null);
    if (nextSource === undefined || !goesOnAfter(state, execution)) return;
    const branch = resolveBranch(state, execution.position, this.#context, withoutOutput(execution.position));
    this.#same(event, "payload.next_step_id", nextStepId, branch.stepId);
    this.#same(event, "payload.next_source", nextSource, branch.source);
  }

  #sameValue(event: Event, path: string, recorded: Value | undefined, recomputed: Value | undefined): void {
    this.#same(event, path, shown(recorded), shown(recomputed));
  }

  /** Notes the first path below `path` at which the two differ. */
  #same(event: Event, path: string, recorded: JsonValue, recomputed: JsonValue): void {
    const at = firstDifference(recorded, recomputed);
    if (at === undefined || this.#mismatches.length >= MISMATCHES_MAX) return;
    const [below, left, right] = at;
    this.#mismatches.push(
      create(ReplayMismatchSchema, {
        seq: event.seq,
        stepId: event.stepId,
        path: [path, ...below].join("."),
        recordedJson: left === undefined ? "" : shorten(JSON.stringify(left), JSON_SHOWN_MAX),
        recomputedJson: right === undefined ? "" : shorten(JSON.stringify(right), JSON_SHOWN_MAX),
      }),
    );
  }
}

/** A value as it is compared: what is in it, or which artifact. */
function shown(value: Value | undefined): JsonValue {
  if (value?.kind.case === "artifact") return { artifact: value.kind.value.sha256, path: [...value.path] };
  if (value?.kind.case !== "json") return null;
  const parsed = parseJson(value.kind.value);
  return parsed.ok ? parsed.value : value.kind.value;
}

type Difference = readonly [path: readonly string[], left: JsonValue | undefined, right: JsonValue | undefined];

function firstDifference(left: JsonValue | undefined, right: JsonValue | undefined): Difference | undefined {
  if (left === right) return undefined;
  const bothObjects = typeof left === "object" && typeof right === "object" && left !== null && right !== null && Array.isArray(left) === Array.isArray(right);
  if (!bothObjects || left === undefined || right === undefined) return [[], left, right];
  const [a, b] = [left as Record<string, JsonValue>, right as Record<string, JsonValue>];
  for (const key of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) {
    const found = firstDifference(Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined);
    if (found !== undefined) return [[key, ...found[0]], found[1], found[2]];
  }
  return undefined;
}

/** The state as one object; undefined where something of it can't be read. */
function stateOf(state: RunState, context: ReplayContext): JsonValue | undefined {
  const steps: Record<string, JsonValue> = {};
  for (const [position, memory] of allOf(state.steps).entries()) {
    if (memory.outcome !== "completed") continue;
    const parsed = readOutput(memory, context);
    if (!parsed.ok) return undefined;
    steps[stepAt(state, position).id] = parsed.value;
  }
  const inputs = state.inputs === undefined ? { ok: true as const, value: {} } : readValue(state.inputs, context);
  return inputs.ok ? { inputs: inputs.value, steps, runtime: runtimeOf(state) } : undefined;
}

/** For whoever shows it: the state's text, or undefined where it takes more than `bytesMax` characters. */
export function stateText(stateJson: JsonValue | undefined, lengthMax: number): string | undefined {
  if (stateJson === undefined) return undefined;
  const text = canonicalJson(stateJson);
  return text.length <= lengthMax ? text : undefined;
}

import type { Event } from "@forge/protocol/event";
import { OverwritePolicy, RunStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { replayRun } from "./replay.ts";
import { artifact, functionStep, json, literal, path, returned, returnedValue, runOf, subRunStep, workflow } from "./testing/run-fixture.ts";
import { runView } from "./view.ts";

const { WARN, STRICT, ALLOW, UNSPECIFIED } = OverwritePolicy;
const AGAIN = [{ when: "state.steps.a.again", goto: "a" }];

/** A step to which its own branch leads back. */
function loop(overwritePolicy: OverwritePolicy, more: object = {}) {
  return runOf(workflow([functionStep("a", { next: AGAIN, nextDefault: "end", ...more })]), { start: { overwritePolicy } });
}

describe("an output that takes the place of another one", () => {
  it.each([WARN, UNSPECIFIED])("is told with the step's end where the policy warns, as it does by itself (%s)", (policy) => {
    const run = loop(policy);
    run.return({ again: true, n: 1 });
    expect(run.last("stepCompleted").value.overwrote).toBe(false);
    run.return({ again: false, n: 2 });
    expect(run.last("stepCompleted").value.overwrote).toBe(true);
    expect(run.state.status).toBe(RunStatus.COMPLETED);
    expect(runView(run.events).steps.map(({ overwrote }) => overwrote)).toEqual([false, true]);
  });

  it("fails the step for good under strict, which a second attempt would not change", () => {
    const run = loop(STRICT, { retry: { attempts: 3 } });
    run.return({ again: true });
    expect(run.return({ again: false }).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error).toMatchObject({ reason: "STEP_EXECUTION", metadata: { step_id: "a" } });
    expect(run.last("stepFailed").value.error?.message).toContain("overwrite_policy strict");
  });

  it("is passed over in silence where it is allowed", () => {
    const run = loop(ALLOW);
    run.return({ again: true });
    expect(run.return({ again: false }).cases).toEqual(["stepCompleted", "runCompleted"]);
    expect(run.last("stepCompleted").value.overwrote).toBe(false);
  });

  it("is none where the value is the same, however it is written", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { next: [{ when: "state.steps.b", goto: "a" }], nextDefault: "end" })]), {
      start: { overwritePolicy: STRICT },
    });
    run.must(returnedValue(run.key, { ...json(0), kind: { case: "json", value: '{"x":1,"y":[2]}' } }));
    run.return(true);
    run.must(returnedValue(run.key, { ...json(0), kind: { case: "json", value: '{ "y": [2.0], "x": 1 }' } }));
    expect(run.return(false).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error?.message).toContain('step "b"');
  });

  it("may be an artifact, told by its hash and never read", () => {
    const run = runOf(workflow([functionStep("a", { nextDefault: "b" }), functionStep("b", { nextDefault: "a" })]));
    for (const [output, overwrote] of [
      [artifact("one"), false],
      [json(1), false],
      [artifact("one"), false],
      [json(1), false],
      [artifact("two"), true],
      [artifact("one"), true],
    ] as const) {
      run.must(returnedValue(run.key, output));
      expect(run.last("stepCompleted").value.overwrote).toBe(overwrote);
    }
  });

  it("may be a list's", () => {
    const run = runOf(
      workflow([
        functionStep("each", { forEach: { items: literal([1, 2]) }, inputs: { it: path("item") }, nextDefault: "b" }),
        functionStep("b", { nextDefault: "each" }),
      ]),
    );
    const round = (second: number): boolean => {
      run.must(returned(run.keyOf("each", 0), 1));
      run.must(returned(run.keyOf("each", 1), second));
      const { overwrote } = run.last("stepCompleted").value;
      run.return("b");
      return overwrote;
    };
    expect([round(2), round(2), round(3)]).toEqual([false, false, true]);
  });

  it("is minded by the runs that a run's steps start as well", () => {
    const run = runOf(workflow([subRunStep("sub", workflow([functionStep("a")]))]), { start: { overwritePolicy: STRICT } });
    const [command] = run.sent;
    expect(command?.command.value).toMatchObject({ request: { overwritePolicy: STRICT } });
  });

  it("is found anew where a history is replayed", () => {
    const run = loop(WARN);
    run.return({ again: true });
    run.return({ again: false });
    const context = { sha256: String, artifact: () => undefined };
    const mismatches = (events = run.events) =>
      replayRun(events, true, context)
        .mismatches.map(({ path: at }) => at)
        .filter((at) => at !== "payload.workflow_hash");
    expect(mismatches()).toEqual([]);
    const changed = run.events.map((event) =>
      event.payload.case === "stepCompleted" ? { ...event, payload: { ...event.payload, value: { ...event.payload.value, overwrote: false } } } : event,
    );
    expect(mismatches(changed)).toEqual(["payload.overwrote"]);
  });

  it("is not told of a history from before there was a policy", () => {
    const run = loop(UNSPECIFIED);
    run.return({ again: true });
    run.return({ again: false });
    const old = run.events.map((event): Event => {
      if (event.payload.case === "runCreated")
        return { ...event, payload: { ...event.payload, value: { ...event.payload.value, overwritePolicy: UNSPECIFIED } } };
      if (event.payload.case === "stepCompleted") return { ...event, payload: { ...event.payload, value: { ...event.payload.value, overwrote: false } } };
      return event;
    });
    const { mismatches } = replayRun(old, true, { sha256: String, artifact: () => undefined });
    expect(mismatches.map(({ path: at }) => at).filter((at) => at !== "payload.workflow_hash")).toEqual([]);
  });

  it("has one of three policies", () => {
    expect(() => loop(9 as OverwritePolicy)).toThrow(/WARN, STRICT or ALLOW/);
  });
});

import { fromBinary } from "@bufbuild/protobuf";
import { Decision, PendingApprovalSchema } from "@forge/protocol/tool";
import { OnError } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { TEST_START_MS } from "../testing/context.ts";
import {
  answer,
  artifact,
  cancelRun,
  fired,
  functionStep,
  literal,
  parsed,
  path,
  pauseRun,
  returnedValue,
  runOf,
  type Step,
  signalRun,
  template,
  waitStep,
  workflow,
} from "./testing/run-fixture.ts";

const AFTER = functionStep("after", { inputs: { it: path("steps.w") } });
const HOUR = { seconds: 3_600n };

function wait(
  kind: Parameters<typeof waitStep>[1],
  options: Parameters<typeof waitStep>[2] = {},
  more: Parameters<typeof runOf>[1] = {},
  inputs: unknown = {},
) {
  const declared = Object.keys(inputs as object).map((name) => ({ name }));
  return runOf(workflow([waitStep("w", kind, options), AFTER], { inputs: declared }), { ...more, inputs });
}

const until = (text: unknown) => wait({ case: "until", value: literal(text) });

describe("a wait for a time", () => {
  it("has a timer, shows that the run waits, and goes on when it fires", () => {
    const run = wait({ case: "duration", value: HOUR });
    expect(run.outstanding()).toEqual([{ kind: "timer", key: "wait:0", dueAtMs: TEST_START_MS + 3_600_000 }]);
    expect(run.status).toBe("WAITING");
    expect(run.must(fired("wait:0")).cases).toEqual(["stepCompleted", "stepStarted"]);
    expect(parsed(run.open("after").input["it"])).toEqual({ until: "2026-01-01T01:00:00Z" });
    expect(run.execute(fired("wait:0")).rejection).toMatchObject({ reason: "STEP_NOT_ACTIVE" });
  });

  it.each([
    ["2026-01-02T01:00:00+01:00", 24],
    ["2026-01-02 00:00:00.123456789Z", 24.00003416666667],
    ["2026-01-01t12:00:00z", 12],
    [" 2026-01-01T12:00:00-00:00 ", 12],
    ["2027-01-02T00:00:00Z", 366 * 24],
  ])("until %s", (text, hours) => {
    expect(until(text).outstanding()).toMatchObject([{ key: "wait:0", dueAtMs: Math.floor(TEST_START_MS + hours * 3_600_000 + 0.5) }]);
  });

  it.each([["2025-12-31T00:00:00Z"], ["2026-01-01T00:00:00Z"], ["0001-01-01T00:00:00Z"]])("does not wait until %s, which has passed", (text) => {
    const run = until(text);
    expect(run.working).toEqual(["after"]);
    expect(parsed(run.open("after").input["it"])).toEqual({ until: new Date(text).toISOString().replace(".000Z", "Z") });
  });

  it.each([
    ["2026-02-01T00:00:00"],
    ["2026-02-01"],
    ["2026-02-30T00:00:00Z"],
    ["2026-13-01T00:00:00Z"],
    ["0000-01-01T00:00:00Z"],
    ["tomorrow"],
    [""],
    [1_770_000_000],
    [null],
  ])("fails where %s is no time with a zone", (text) => {
    expect(until(text).last("runFailed").value.error?.message).toContain("`until` is no time with a zone");
  });

  it("fails where the time is more than 366 days ahead", () => {
    expect(until("2027-01-02T00:00:01Z").last("runFailed").value.error?.message).toBe('step "w": `until` lies more than 366 days ahead');
  });

  it("reads it by path and template, also from the artifact store", () => {
    const byTemplate = wait({ case: "until", value: template("{{ inputs.day }}T00:00:00Z") }, {}, {}, { day: "2026-01-02" });
    expect(byTemplate.timers()).toEqual(["wait:0"]);
    const run = runOf(workflow([functionStep("a"), waitStep("w", { case: "until", value: path("steps.a.at") }), AFTER]), {
      artifacts: { big: '{"at":"2026-01-02T00:00:00Z"}' },
    });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.timers()).toEqual(["wait:1"]);
  });

  it("that has passed lets what follows it read what came before, wherever it lies", () => {
    const steps = [
      functionStep("a"),
      waitStep("w", { case: "until", value: literal("2020-01-01T00:00:00Z") }),
      functionStep("b", { inputs: { it: path("steps.a.v") } }),
    ];
    const run = runOf(workflow(steps), { artifacts: { big: '{"v":7}' } });
    run.must(returnedValue(run.key, artifact("big")));
    expect(parsed(run.open("b").input["it"])).toBe(7);
  });
});

describe("a wait for a person", () => {
  const question = "Delete {{ inputs.name }} of {{ runtime.workflow_id }}?";
  const ask = (options: Parameters<typeof waitStep>[2] = {}) => wait({ case: "approval", value: { question } }, options, {}, { name: "x.txt" });
  const pending = (run: ReturnType<typeof ask>) => run.decider.listing(run.state).approvals.map((bytes) => fromBinary(PendingApprovalSchema, bytes));

  it("is listed with its question until it is answered", () => {
    const run = ask({ timeout: HOUR });
    const [approval] = pending(run);
    expect(approval).toMatchObject({
      stepId: "w",
      question: "Delete x.txt of triage?",
      stream: { id: run.state.runId },
      expiresAt: { seconds: BigInt(TEST_START_MS / 1000 + 3_600) },
    });
    expect(run.status).toBe("WAITING");
    expect(run.must(answer(approval?.approvalId ?? "", Decision.ALLOW, "Fine."), "ann").cases).toEqual(["approvalResolved", "stepCompleted", "stepStarted"]);
    expect(parsed(run.open("after").input["it"])).toEqual({ decision: "allow", comment: "Fine.", decided_by: "ann" });
    expect(pending(run)).toEqual([]);
    expect(run.timers()).toEqual([]);
  });

  it("fails where the person says no, and is not asked again", () => {
    const run = ask();
    run.must(answer(run.open("w").wait?.approvalId ?? "", Decision.DENY, "Never."), "ann");
    expect(run.last("runFailed").value.error).toMatchObject({ reason: "APPROVAL_DENIED", message: 'step "w": ann said no: Never.' });
  });

  it("takes the first answer, and tells it to whoever comes later, also when the run has ended", () => {
    const run = ask();
    const id = run.open("w").wait?.approvalId ?? "";
    run.must(answer(id, Decision.DENY), "ann");
    const { rejection } = run.execute(answer(id, Decision.ALLOW), "bob");
    expect(rejection).toMatchObject({ reason: "APPROVAL_RESOLVED", metadata: { decided_by: "ann" } });
  });

  it("expires", () => {
    const run = ask({ timeout: HOUR });
    const id = run.open("w").wait?.approvalId ?? "";
    expect(run.must(fired("wait:0")).cases).toEqual(["approvalExpired", "stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error).toMatchObject({ reason: "APPROVAL_EXPIRED" });
    expect(run.execute(answer(id)).rejection).toMatchObject({ reason: "APPROVAL_NOT_FOUND" });
  });

  it("refuses what is no answer", () => {
    const run = ask();
    const id = run.open("w").wait?.approvalId ?? "";
    expect(run.execute(answer(id, Decision.UNSPECIFIED)).rejection?.metadata).toMatchObject({ field: "decision" });
    expect(run.execute(answer(id, Decision.ASK)).rejection?.metadata).toMatchObject({ field: "decision" });
    expect(run.execute(answer(id, Decision.ALLOW, "x".repeat(4_097))).rejection?.metadata).toMatchObject({ field: "comment" });
    expect(run.execute(answer(id, Decision.ALLOW, "\u0000")).rejection?.metadata).toMatchObject({ field: "comment" });
    expect(run.execute(answer("other")).rejection).toMatchObject({ reason: "APPROVAL_NOT_FOUND" });
  });

  it("is gone once the run is cancelled", () => {
    const run = ask();
    const id = run.open("w").wait?.approvalId ?? "";
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested", "stepCancelled", "runCancelled"]);
    expect(run.execute(answer(id)).rejection).toMatchObject({ reason: "APPROVAL_NOT_FOUND" });
  });

  it("fails where its question can't be rendered, or is too long", () => {
    const long = wait({ case: "approval", value: { question: "{{ inputs.name }}" } }, {}, {}, { name: "x".repeat(4_097) });
    expect(long.last("runFailed").value.error?.message).toContain("its question is longer than 4096 characters");
    const broken = wait({ case: "approval", value: { question: "{{ inputs.none }}" } });
    expect(broken.last("runFailed").value.error?.message).toContain("its question can't be rendered");
  });
});

describe("several waits", () => {
  const waits: Step[] = [waitStep("a", { case: "signal", value: "x" }), waitStep("b", { case: "duration", value: HOUR }), functionStep("c", { needs: ["a"] })];

  it("run beside each other, and the run waits only while nothing else is under way", () => {
    const run = runOf(workflow(waits));
    expect(run.status).toBe("WAITING");
    run.must(signalRun("x"));
    expect(run.status).toBe("RUNNING");
  });

  it("may fail one by one", () => {
    const steps = [waitStep("a", { case: "signal", value: "x" }, { timeout: HOUR }), ...waits.slice(1)];
    const run = runOf(workflow(steps, { onError: OnError.CONTINUE }));
    expect(run.must(fired("wait:0")).cases).toEqual(["stepFailed", "stepSkipped"]);
    expect(run.last("stepFailed").value.error).toMatchObject({ reason: "WAIT_TIMEOUT", message: 'step "a": the signal "x" did not come in time' });
    run.must(fired("wait:1"));
    expect(run.status).toBe("COMPLETED_WITH_ERRORS");
  });

  it("go on while the run is paused, and nothing begins until it is continued", () => {
    const run = runOf(workflow(waits));
    run.must(pauseRun());
    expect(run.must(signalRun("x")).cases).toEqual(["runSignalled", "stepCompleted"]);
    expect(run.must(fired("wait:1")).cases).toEqual(["stepCompleted"]);
    expect(run.status).toBe("PAUSED");
  });
});

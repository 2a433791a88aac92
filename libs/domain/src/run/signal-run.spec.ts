import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { OnError, SignalRunRequestSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  artifact,
  cancelRun,
  functionStep,
  parsed,
  path,
  RunStream,
  returned,
  runOf,
  signalRun,
  subRunStep,
  waitStep,
  workflow,
} from "./testing/run-fixture.ts";

const go = (id: string, options: Parameters<typeof waitStep>[2] = {}) => waitStep(id, { case: "signal", value: "go" }, options);
const outputOf = (run: RunStream, id: string) => parsed(run.lastOf("stepCompleted", id).output);

describe("a signal", () => {
  it("ends the wait for it, and its payload is the output", () => {
    const run = runOf(workflow([go("w"), functionStep("after", { inputs: { it: path("steps.w.n") } })]));
    expect(run.must(signalRun("go", { n: 1 })).cases).toEqual(["runSignalled", "stepCompleted", "stepStarted"]);
    expect(parsed(run.open("after").input["it"])).toBe(1);
    expect(run.state.signals).toEqual([]);
  });

  it("without a payload is null", () => {
    const run = runOf(workflow([go("w")]));
    run.must(signalRun("go"));
    expect(outputOf(run, "w")).toBeNull();
  });

  it("before its wait is kept, and taken at once, oldest first", () => {
    const run = runOf(workflow([functionStep("a"), go("w"), go("v"), go("u"), functionStep("b")]));
    for (const payload of [1, 2]) expect(run.must(signalRun("go", payload)).cases).toEqual(["runSignalled"]);
    run.must(signalRun("other", 9));
    run.must(returned(run.key, 1));
    expect([outputOf(run, "w"), outputOf(run, "v")]).toEqual([1, 2]);
    expect(run.working).toEqual(["u"]);
    run.must(signalRun("go", 3));
    expect(outputOf(run, "u")).toBe(3);
    expect(run.state.signals.map(({ name }) => name)).toEqual(["other"]);
  });

  it("ends the wait that has waited longest, and one wait only", () => {
    const run = runOf(workflow([functionStep("x"), go("late", { needs: ["x"] }), go("early")]));
    run.must(returned(run.keyOf("x"), 1));
    run.must(signalRun("go", 1));
    expect(run.working).toEqual(["late"]);
    expect(outputOf(run, "early")).toBe(1);
    run.must(signalRun("go", 2));
    expect(outputOf(run, "late")).toBe(2);
  });

  it("may bring an artifact, which later steps look into", () => {
    for (const early of [false, true]) {
      const steps = [functionStep("a"), go("w"), functionStep("after", { inputs: { it: path("steps.w.v") } })];
      const run = runOf(workflow(steps), { artifacts: { big: '{"v":7}' } });
      const signal = create(SignalRunRequestSchema, { name: "go", payload: artifact("big") });
      if (early) run.must(signal);
      run.must(returned(run.key, 1));
      if (!early) run.must(signal);
      expect(parsed(run.open("after").input["it"])).toBe(7);
    }
  });

  it("must be as the step's contract says", () => {
    const run = runOf(workflow([go("w", { outputs: ["n"] }), functionStep("a")], { onError: OnError.CONTINUE }));
    run.must(signalRun("go", { m: 1 }));
    expect(run.lastOf("stepFailed", "w").error?.message).toContain('the output lacks "n" and has undeclared "m"');
    expect(run.state.signals).toEqual([]);
  });

  it("is refused where it has no fit name or payload", () => {
    const run = runOf(workflow([go("w")]));
    for (const name of ["", "x".repeat(129), "a\u0000"]) expect(run.execute(signalRun(name)).rejection?.metadata).toMatchObject({ field: "name" });
    expect(run.execute(signalRun("go", "x".repeat(65_536))).rejection?.metadata).toMatchObject({ field: "payload" });
    const broken = create(SignalRunRequestSchema, { name: "go", payload: { kind: { case: "json", value: "{" } } });
    expect(run.execute(broken).rejection?.metadata).toMatchObject({ field: "payload" });
  });

  it("is refused where a thousand wait, or the run has ended or does not exist", () => {
    const run = runOf(workflow([functionStep("a")]));
    for (let count = 0; count < 1_000; count++) run.must(signalRun("go"));
    expect(run.execute(signalRun("go")).rejection).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED });
    run.return(1);
    expect(run.execute(signalRun("go")).rejection).toMatchObject({ reason: "RUN_ENDED" });
    expect(new RunStream().execute(signalRun("go")).rejection).toMatchObject({ reason: "RUN_NOT_FOUND" });
  });

  it("is kept, for nobody, while the run is being cancelled", () => {
    const run = runOf(workflow([functionStep("a"), go("w")]));
    run.must(cancelRun());
    expect(run.must(signalRun("go")).cases).toEqual(["runSignalled"]);
  });

  it("does not reach into a sub-run", () => {
    const run = runOf(workflow([subRunStep("s", workflow([go("w")], { id: "inner" }))]));
    expect(run.must(signalRun("go")).cases).toEqual(["runSignalled"]);
    expect(run.state.signals).toHaveLength(1);
  });
});

import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, TaskLeaseSchema } from "@forge/protocol/common";
import { type Settlement, SettlementSchema, TaskAnswerSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import { Submissions } from "./submissions.ts";
import { FakeControlPlane, workerSessionGone } from "./testing/fake-control-plane.ts";

function setup() {
  const plane = new FakeControlPlane();
  let session = "first";
  const submissions = new Submissions(plane.port, () => session);
  return { plane, submissions, join: (id: string) => (session = id) };
}

function settlement(taskId: string): Settlement {
  return create(SettlementSchema, { lease: { taskId, epoch: 1 }, outcome: { case: "cancelled", value: {} } });
}

function refusal(code: ErrorCode, reason = "", retryable?: boolean) {
  return create(TaskAnswerSchema, { error: new ForgeError(code, "no", { reason, retryable }).detail });
}

describe("submissions", () => {
  it("of one moment go together, and each gets its own answer", async () => {
    const { plane, submissions } = setup();
    plane.answerStart = ({ lease }) => (lease?.taskId === "b" ? refusal(ErrorCode.CONFLICT, "LEASE_LOST") : create(TaskAnswerSchema));
    const starts = await Promise.allSettled(["a", "b", "c"].map((taskId) => submissions.start(create(TaskLeaseSchema, { taskId }), { case: undefined })));
    expect(starts.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(starts[1]).toMatchObject({ reason: { code: ErrorCode.CONFLICT, reason: "LEASE_LOST" } });
    await Promise.all([submissions.settle(settlement("a")), submissions.settle(settlement("b"))]);
    expect({ starts: plane.starts.length, settlements: plane.settlements.length }).toEqual({ starts: 1, settlements: 1 });
  });

  it.each([
    ["the connection breaks", () => new ForgeError(ErrorCode.STORAGE_ERROR, "reset", { reason: "TRANSPORT" })],
    ["the server has too much to do", () => new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "busy")],
    ["the server knows the session no more", () => workerSessionGone()],
  ])("are sent again, under the session of then, while %s", async (_, error) => {
    const { plane, submissions, join } = setup();
    const sessions: string[] = [];
    plane.onCall = (_method, sessionId) => {
      if (sessions.push(sessionId) > 2) return;
      join("second");
      throw error();
    };
    await submissions.settle(settlement("a"));
    expect(sessions).toEqual(["first", "second", "second"]);
  });

  it("are sent again when one answer says that it may succeed later", async () => {
    const { plane, submissions } = setup();
    plane.answerSettlement = () => (plane.settlements.length < 3 ? refusal(ErrorCode.STORAGE_ERROR) : create(TaskAnswerSchema));
    await submissions.settle(settlement("a"));
    expect(plane.settlements).toHaveLength(3);
  });

  it("of a task that is another's now are no failure", async () => {
    const { plane, submissions } = setup();
    plane.answerSettlement = () => refusal(ErrorCode.CONFLICT, "LEASE_LOST");
    await submissions.settle(settlement("a"));
    expect(plane.settlements).toHaveLength(1);
  });

  it.each([
    [ErrorCode.VALIDATION, undefined],
    [ErrorCode.RESOURCE_EXHAUSTED, false],
  ])("that are refused together for what one of them holds are sent one by one (code %i)", async (code, retryable) => {
    const { plane, submissions } = setup();
    const isBad = ({ lease }: Settlement) => lease?.taskId === "bad";
    plane.onCall = () => {
      if (plane.settlements.at(-1)?.some(isBad) === true) throw new ForgeError(code, "this can't be kept", { retryable });
    };
    const results = await Promise.allSettled(["a", "bad", "c"].map((taskId) => submissions.settle(settlement(taskId))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { code } });
    expect(plane.settlements.map((batch) => batch.map(({ lease }) => lease?.taskId))).toEqual([["a", "bad", "c"], ["a"], ["bad"], ["c"]]);
  });

  it("fail with what does not pass", async () => {
    const { plane, submissions } = setup();
    plane.onCall = () => {
      throw new ForgeError(ErrorCode.UNAUTHENTICATED, "withdrawn");
    };
    await expect(submissions.settle(settlement("a"))).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED });
    expect(plane.settlements).toHaveLength(1);
  });
});

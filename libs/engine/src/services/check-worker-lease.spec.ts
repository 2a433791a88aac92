import { create, toBinary } from "@bufbuild/protobuf";
import type { Call, Role } from "@forge/protocol";
import { ErrorCode, TaskLeaseSchema } from "@forge/protocol/common";
import { TaskRecordSchema } from "@forge/protocol/engine";
import { TaskSchema } from "@forge/protocol/worker";
import { describe, expect, it, vi } from "vitest";
import type { TaskStore } from "../ports/index.ts";
import { checkWorkerLease, type LeasedAccess } from "./check-worker-lease.ts";

const SESSION = "01980000-0000-7000-8000-000000000001";
const OTHER = "01980000-0000-7000-8000-000000000002";
const INPUT = "a".repeat(64);
const WHOLE = "b".repeat(64);
const STRANGE = "c".repeat(64);

const RECORD = toBinary(
  TaskRecordSchema,
  create(TaskRecordSchema, {
    kind: {
      case: "work",
      value: create(TaskSchema, {
        artifact: { sha256: WHOLE },
        kind: { case: "function", value: { name: "f", input: { issue: { kind: { case: "artifact", value: { sha256: INPUT } } } } } },
      }),
    },
  }),
);

function lease(taskId: string, held: object = {}) {
  return create(TaskLeaseSchema, { taskId, epoch: 2, leaseToken: new Uint8Array(16).fill(1), ...held });
}

function callOf(role: Role): Call {
  return { namespace: "default", principal: "worker:w", role, signal: new AbortController().signal };
}

/** Holds one lease; its stream refers to one artifact. */
function setup() {
  const leasedTask = vi.fn<TaskStore["leasedTask"]>(async (asked, sha256) =>
    asked.epoch === 2 && asked.token[0] === 1 ? { bytes: RECORD, refersTo: sha256 === "d".repeat(64) } : undefined,
  );
  const check = (access: LeasedAccess, held?: ReturnType<typeof lease>, role: Role = "worker") => checkWorkerLease({ leasedTask }, callOf(role), held, access);
  return { check, leasedTask };
}

describe("a hook", () => {
  const HOOK = toBinary(
    TaskRecordSchema,
    create(TaskRecordSchema, {
      kind: { case: "work", value: create(TaskSchema, { kind: { case: "hook", value: { hook: "h", conversationThroughSeq: 7n } } }) },
    }),
  );
  const check = (throughSeq: number | undefined) =>
    checkWorkerLease({ leasedTask: async () => ({ bytes: HOOK, refersTo: false }) }, callOf("worker"), lease(`session/${SESSION}/hook:h`), {
      kind: "conversation",
      sessionId: SESSION,
      ...(throughSeq === undefined ? {} : { throughSeq }),
    });

  it("reads the conversation up to what it is about, and no further", async () => {
    await expect(check(7)).resolves.toBeUndefined();
    await expect(check(3)).resolves.toBeUndefined();
    for (const throughSeq of [8, 0]) await expect(check(throughSeq)).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "LEASE_REQUIRED" });
  });
});

const ACCESSES: LeasedAccess[] = [{ kind: "conversation", sessionId: SESSION }, { kind: "putArtifact" }, { kind: "getArtifact", sha256: INPUT }];

describe("a worker", () => {
  it.each(ACCESSES)("does nothing without a lease, with one that it does not hold, or with none at all: %o", async (access) => {
    const { check, leasedTask } = setup();
    await expect(check(access)).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "LEASE_REQUIRED" });
    for (const held of [
      lease("", {}),
      lease("task"),
      lease(`session/${SESSION}/t`, { epoch: 0 }),
      lease(`session/${SESSION}/t`, { leaseToken: new Uint8Array(15) }),
    ]) {
      await expect(check(access, held)).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
    }
    expect(leasedTask).not.toHaveBeenCalled();
    for (const held of [{ epoch: 1 }, { leaseToken: new Uint8Array(16) }]) {
      await expect(check(access, lease(`session/${SESSION}/t`, held))).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "LEASE_LOST" });
    }
  });

  it("is looked for under its own name, in the namespace of the call", async () => {
    const { check, leasedTask } = setup();
    await check({ kind: "putArtifact" }, lease(`run/${SESSION}/step/a`));
    expect(leasedTask.mock.calls).toMatchObject([[{ namespace: "default", principal: "worker:w", streamId: SESSION, key: "step/a" }, undefined]]);
  });

  it("reads the conversation of the session that its task belongs to, and no other", async () => {
    const { check } = setup();
    await check({ kind: "conversation", sessionId: SESSION }, lease(`session/${SESSION}/t`));
    for (const taskId of [`session/${OTHER}/t`, `run/${SESSION}/t`]) {
      await expect(check({ kind: "conversation", sessionId: SESSION }, lease(taskId))).rejects.toMatchObject({ reason: "LEASE_REQUIRED" });
    }
  });

  it("reads the artifacts that its task or the task's stream refers to, and no others", async () => {
    const { check } = setup();
    for (const sha256 of [INPUT, WHOLE, "d".repeat(64)]) await check({ kind: "getArtifact", sha256 }, lease(`run/${SESSION}/t`));
    await expect(check({ kind: "getArtifact", sha256: STRANGE }, lease(`run/${SESSION}/t`))).rejects.toMatchObject({
      code: ErrorCode.PERMISSION_DENIED,
      reason: "LEASE_REQUIRED",
      message: expect.stringContaining(STRANGE),
    });
  });
});

it.each<Role>(["viewer", "operator", "approver", "admin"])("whose role is %s needs no lease", async (role) => {
  const { check, leasedTask } = setup();
  for (const access of ACCESSES) await check(access, undefined, role);
  expect(leasedTask).not.toHaveBeenCalled();
});

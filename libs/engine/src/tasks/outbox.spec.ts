import { create, toBinary } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { TaskRecordSchema } from "@forge/protocol/engine";
import { describe, expect, it } from "vitest";
import type { StoredTask } from "../ports/index.ts";
import { outgoingKey } from "../stream/plan.ts";
import type { CommandRequest } from "../stream/request.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { Outbox, type ReadChildFork } from "./outbox.ts";
import type { Repair } from "./repair.ts";

const SOURCE = "0190a000-0000-7000-8000-000000000001";
const TARGET = "0190a000-0000-7000-8000-000000000002";

function row(seq: number): StoredTask {
  const command = {
    source: { kind: StreamKind.RUN, id: SOURCE },
    target: { kind: StreamKind.SESSION, id: TARGET },
    commandId: `command ${seq}`,
    command: { case: "cancelTurn" as const, value: { sessionId: TARGET } },
  };
  return {
    namespace: "default",
    streamId: SOURCE,
    streamKind: "run",
    key: outgoingKey(seq, 0),
    kind: "command",
    route: "command",
    epoch: 1,
    owner: "replica",
    token: new Uint8Array(16),
    leaseUntilMs: 0,
    dueAtMs: 0,
    started: false,
    cancelRequested: false,
    needsStart: false,
    idempotent: true,
    bytes: toBinary(TaskRecordSchema, create(TaskRecordSchema, { kind: { case: "command", value: command } })),
  };
}

/** An outbox whose targets answer as told, and what became of each command. */
function setup(answer: (commandId: string) => ForgeError | undefined, options: { earlierWaits?: boolean } = {}, readFork: ReadChildFork = noFork) {
  const happened: string[] = [];
  const engine = {
    execute: async ({ commandId, command }: CommandRequest) => {
      const refusal = command.$typeName === "forge.engine.v1.RejectCommand" ? undefined : answer(commandId.trim());
      if (refusal !== undefined) throw refusal;
      happened.push(command.$typeName === "forge.engine.v1.RejectCommand" ? `given back ${commandId.trim()}` : `delivered ${commandId.trim()}`);
    },
  } as unknown as StreamEngine;
  const repair = { isFirstCommand: async () => options.earlierWaits !== true, drop: async () => undefined } as unknown as Repair;
  const problems: unknown[] = [];
  return { outbox: new Outbox(engine, repair, readFork, (error) => problems.push(error)), happened, problems };
}

const noFork = async (): Promise<never> => {
  throw new Error("nothing is forked here");
};

const busy = new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "too many commands wait");
const refused = new ForgeError(ErrorCode.CONFLICT, "no");

describe("Outbox", () => {
  const fork = (): StoredTask => {
    const command = {
      source: { kind: StreamKind.SESSION, id: SOURCE },
      target: { kind: StreamKind.SESSION, id: TARGET },
      commandId: "fork",
      command: { case: "forkChildSession" as const, value: { throughSeq: 7n } },
    };
    return { ...row(1), streamKind: "session", bytes: toBinary(TaskRecordSchema, create(TaskRecordSchema, { kind: { case: "command", value: command } })) };
  };

  it("reads what a sub-agent's session begins with from its caller's, and creates it", async () => {
    const executed: CommandRequest[] = [];
    const read: unknown[] = [];
    const engine = { execute: async (request: CommandRequest) => executed.push(request) } as unknown as StreamEngine;
    const repair = {} as Repair;
    const outbox = new Outbox(
      engine,
      repair,
      async (namespace, sessionId, { throughSeq }) => {
        read.push([namespace, sessionId, throughSeq]);
        return { $typeName: "session.fork_from" } as never;
      },
      (error) => {
        throw error;
      },
    );
    outbox.accept([fork()]);
    await outbox.whenIdle();
    expect(read).toEqual([["default", SOURCE, 7n]]);
    expect(executed).toMatchObject([{ kind: "session", streamId: TARGET, creates: true, command: { $typeName: "session.fork_from" }, commandId: " fork" }]);
  });

  it("gives a fork back that can't be made", async () => {
    const { outbox, happened } = setup(
      () => undefined,
      {},
      async () => {
        throw refused;
      },
    );
    outbox.accept([fork()]);
    await outbox.whenIdle();
    expect(happened).toEqual([`given back reject/${outgoingKey(1, 0)}`]);
  });

  it("delivers a source's commands in order", async () => {
    const { outbox, happened } = setup(() => undefined);
    outbox.accept([row(1), row(2)]);
    await outbox.whenIdle();
    expect(happened).toEqual(["delivered command 1", "delivered command 2"]);
  });

  it("lets nothing overtake a delivery that failed in passing, and goes on once the store gives out the earliest", async () => {
    let down = true;
    const { outbox, happened, problems } = setup(() => (down ? busy : undefined));
    outbox.accept([row(1), row(2)]);
    await outbox.whenIdle();
    down = false;
    outbox.accept([row(3)]);
    await outbox.whenIdle();
    expect(happened).toEqual([]);
    expect(problems).toEqual([busy]);
    await outbox.resume([row(1)]);
    outbox.accept([row(2)]);
    await outbox.whenIdle();
    expect(happened).toEqual(["delivered command 1", "delivered command 2"]);
  });

  it("keeps what waits behind a failed delivery back until the earliest has its turn again", async () => {
    let isFirst = true;
    const { outbox, happened } = setup(() => {
      const refusal = isFirst ? busy : undefined;
      isFirst = false;
      return refusal;
    });
    outbox.accept([row(1)]);
    await outbox.whenIdle();
    // Both wait in the mailbox: the one that was stored later came first.
    outbox.accept([row(2)]);
    await outbox.resume([row(1)]);
    expect(happened).toEqual(["delivered command 1"]);
  });

  it("gives a refusal back to the source", async () => {
    const { outbox, happened } = setup((id) => (id === "command 1" ? refused : undefined));
    outbox.accept([row(1), row(2)]);
    await outbox.whenIdle();
    expect(happened).toEqual([`given back reject/${outgoingKey(1, 0)}`, "delivered command 2"]);
  });

  it("takes no refusal for an answer while an earlier command, of a replica that died, is still to come", async () => {
    const { outbox, happened } = setup(() => refused, { earlierWaits: true });
    outbox.accept([row(5), row(6)]);
    await outbox.whenIdle();
    expect(happened).toEqual([]);
  });
});

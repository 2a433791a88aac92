import { create } from "@bufbuild/protobuf";
import { sessionDecider } from "@forge/domain";
import { CreateSessionRequestSchema, HookAt, StartTurnRequestSchema } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import type { Command } from "./aggregate.ts";
import { emptyEntry } from "./entry.ts";
import { EVENT_FORMATS } from "./event-formats.ts";
import { type PlanPorts, plan } from "./plan.ts";
import type { CommandRequest } from "./request.ts";

const STREAM = "00000000-0000-8000-8000-000000000001";
const base = { namespace: "default", principal: "cli", kind: "session" as const, streamId: STREAM, expectedSeq: undefined, correlationId: "", causationId: "" };

function request(command: Command, commandId: string, creates = false): CommandRequest {
  return { ...base, creates, command, commandId, digest: new Uint8Array(), proofs: [], resultSchema: undefined };
}

/** Ports to whom a hook's worker becomes known when they look again, or never. */
function portsThatFind(found: boolean) {
  let looks = 0;
  const ports: PlanPorts = {
    nowMs: () => 0,
    artifactText: async () => undefined,
    knowTools: async () => undefined,
    toolsOf: () => [],
    isServed: () => found && looks > 0,
    knowServed: async () => {
      looks += 1;
    },
    formats: EVENT_FORMATS,
    mayWrite: async () => true,
  };
  return { ports, looks: () => looks };
}

describe("a turn whose hook's worker is not known here", () => {
  const aggregates = { session: sessionDecider } as never;
  const created = request(create(CreateSessionRequestSchema, { agent: { model: "a/b", hooks: [{ name: "guard", at: [HookAt.USER_MESSAGE] }] } }), "one", true);
  const started = request(create(StartTurnRequestSchema, { sessionId: STREAM, input: [{ kind: { case: "text", value: { text: "Hello." } } }] }), "two");

  it("asks it where it has joined elsewhere meanwhile", async () => {
    const { ports, looks } = portsThatFind(true);
    const planned = await plan(emptyEntry("session", aggregates), [created, started], ports);
    expect(planned.events.map(({ kind }) => kind).at(-1)).toBe("hook.requested");
    expect(looks()).toBe(1);
  });

  it("fails only once it was looked for anew", async () => {
    const { ports, looks } = portsThatFind(false);
    const planned = await plan(emptyEntry("session", aggregates), [created, started], ports);
    expect(planned.events.map(({ kind }) => kind).slice(-2)).toEqual(["hook.failed", "turn.failed"]);
    expect(looks()).toBe(1);
  });
});

import { toBinary } from "@bufbuild/protobuf";
import type { Context, EventDraft } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { OutgoingCommand } from "@forge/protocol/engine";
import type { Event } from "@forge/protocol/event";
import type { ToolSpec } from "@forge/protocol/tool";
import type { StoredEvent } from "../ports/index.ts";
import { neededFormat } from "./content-format.ts";
import { encodeEvent } from "./encode-event.ts";
import type { Entry, SinceSnapshot } from "./entry.ts";
import { stamp } from "./envelope.ts";
import type { EventFormats } from "./event-formats.ts";
import { deriveId, newId, sha256Hex } from "./identity.ts";
import { archived } from "./refusals.ts";
import type { CommandRequest, CommandResult } from "./request.ts";

/** What deciding reads from outside the stream. */
export interface PlanPorts {
  nowMs(): number;
  /** The text of an artifact; undefined where it does not exist. */
  artifactText(namespace: string, sha256: string): Promise<string | undefined>;
  /** Resolves once it is known who serves what in a namespace. */
  knowTools(namespace: string): Promise<void>;
  toolsOf(namespace: string, queue: string): readonly ToolSpec[];
  /** Whether a live worker serves a capability, as far as is known here. */
  isServed(namespace: string, queue: string, capability: string): boolean;
  /** Resolves once it is known anew who serves what in a namespace. */
  knowServed(namespace: string): Promise<void>;
  readonly formats: EventFormats;
  /** Whether every live control plane reads a format. */
  mayWrite(format: number): Promise<boolean>;
}

/** A command that a plan accepted. */
export interface Accepted<R extends CommandRequest> {
  readonly request: R;
  readonly result: CommandResult;
}

/** What a group of commands does to a stream, before it is appended. */
export interface Plan<R extends CommandRequest> {
  readonly accepted: readonly Accepted<R>[];
  readonly rejected: readonly { readonly request: R; readonly error: ForgeError }[];
  readonly events: readonly Event[];
  readonly encoded: readonly StoredEvent[];
  readonly outgoing: readonly { readonly key: string; readonly command: OutgoingCommand }[];
  /** The stream as it is once the events are appended. */
  readonly after: Entry;
}

const EMPTY = new Uint8Array();

/** Orders a stream's outgoing commands by their causing event: fixed width, so that text order is number order. */
export function outgoingKey(seq: number, index: number): string {
  return `command:${String(seq).padStart(16, "0")}:${String(index).padStart(4, "0")}`;
}

function expectation(request: CommandRequest, entry: Entry): ForgeError | undefined {
  if (entry.seq === 0 && !request.creates) {
    return new ForgeError(ErrorCode.NOT_FOUND, `${request.kind} ${request.streamId} does not exist`, { relatedIds: [request.streamId] });
  }
  if (entry.isArchived) return archived(request);
  if (request.expectedSeq === undefined || (request.expectedSeq >= entry.stateSeq && request.expectedSeq <= entry.seq)) return undefined;
  return new ForgeError(
    ErrorCode.CONFLICT,
    `${request.kind} ${request.streamId} is at seq ${entry.seq}, not ${request.expectedSeq}: read it again and decide anew`,
    {
      reason: "SEQ_MISMATCH",
      relatedIds: [request.streamId],
      metadata: { current_seq: String(entry.seq) },
    },
  );
}

/** Decides commands one after the other over the evolving state. */
export async function plan<R extends CommandRequest>(before: Entry, requests: readonly R[], ports: PlanPorts): Promise<Plan<R>> {
  const { aggregate } = before;
  const accepted: Accepted<R>[] = [];
  const rejected: { request: R; error: ForgeError }[] = [];
  const events: Event[] = [];
  const outgoing: { key: string; command: OutgoingCommand }[] = [];
  let entry = before;
  for (const request of requests) {
    const refusal = expectation(request, entry);
    if (refusal !== undefined) {
      rejected.push({ request, error: refusal });
      continue;
    }
    await ports.knowTools(request.namespace);
    const artifacts = new Map<string, string | undefined>();
    for (const hash of aggregate.needs(entry.state, request.command)) artifacts.set(hash, await ports.artifactText(request.namespace, hash));
    const nowMs = Math.max(ports.nowMs(), entry.occurredAtMs);
    let isMissed = false;
    const context: Context = {
      namespace: request.namespace,
      streamId: request.streamId,
      principal: request.principal,
      commandId: request.commandId,
      nowMs,
      seq: entry.seq,
      newId: () => newId(nowMs),
      deriveId: (...parts) => deriveId(request.namespace, ...parts),
      sha256: sha256Hex,
      artifact: (hash) => artifacts.get(hash),
      tools: (queue) => ports.toolsOf(request.namespace, queue),
      serves: (queue, capability) => {
        const isServed = ports.isServed(request.namespace, queue, capability);
        isMissed ||= !isServed;
        return isServed;
      },
    };
    let decision = aggregate.decide(entry.state, request.command, context);
    if (isMissed) {
      // A worker may have joined at another replica a moment ago: nobody is turned away for what is known late.
      await ports.knowServed(request.namespace);
      decision = aggregate.decide(entry.state, request.command, context);
    }
    if ("rejection" in decision) {
      rejected.push({ request, error: ForgeError.from({ ...decision.rejection, origin: decision.rejection.origin || "control-plane" }) });
      continue;
    }
    if (decision.events.length === 0) throw new Error(`${request.command.$typeName} was accepted without an event`);
    const format = newestFormat(ports.formats, decision.events);
    if (format > 1 && !(await ports.mayWrite(format))) {
      rejected.push({ request, error: formatNotRead(request) });
      continue;
    }
    let { state, seq } = entry;
    for (const draft of decision.events) {
      seq++;
      const event = stamp(draft, seq, { ...request, nowMs });
      state = aggregate.evolve(state, event);
      events.push(event);
      for (const [index, command] of aggregate.commands(state, event).entries()) outgoing.push({ key: outgoingKey(seq, index), command });
    }
    entry = {
      ...entry,
      state,
      seq,
      stateSeq: seq,
      format: Math.max(entry.format, format),
      occurredAtMs: nowMs,
    };
    accepted.push({ request, result: encodeResult(request, decision.result, seq) });
  }
  const encoded = events.map(encodeEvent);
  const after = entry === before ? before : { ...entry, ...derived(entry), sinceSnapshot: grown(before.sinceSnapshot, encoded) };
  return { accepted, rejected, events, encoded, outgoing, after };
}

function derived({ aggregate, state }: Entry): Pick<Entry, "outstanding" | "listing"> {
  return { outstanding: aggregate.outstanding(state), listing: aggregate.listing(state) };
}

function grown(since: SinceSnapshot, encoded: readonly StoredEvent[]): SinceSnapshot {
  return { ...since, events: since.events + encoded.length, bytes: since.bytes + encoded.reduce((sum, { bytes }) => sum + bytes.length, 0) };
}

function newestFormat(formats: EventFormats, drafts: readonly EventDraft[]): number {
  if (formats.kinds.size === 0) return 1;
  return Math.max(...drafts.map(({ payload }) => neededFormat(formats, payload)));
}

function formatNotRead({ kind, streamId }: CommandRequest): ForgeError {
  return new ForgeError(
    ErrorCode.UNSUPPORTED_VERSION,
    `${kind} ${streamId} can't be changed so while an older control plane runs, which could not read it: try again once that one has ended`,
    { reason: "FORMAT_NOT_READ", origin: "control-plane", relatedIds: [streamId], retryable: true },
  );
}

function encodeResult(request: CommandRequest, result: unknown, seq: number): CommandResult {
  if (request.resultSchema === undefined) return { seq, resultType: "", result: EMPTY };
  const message = { ...(result as object), seq: BigInt(seq) } as never;
  return { seq, resultType: request.resultSchema.typeName, result: toBinary(request.resultSchema, message) };
}

import { type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import type { SubscribeEventsResponse } from "@forge/protocol/event";
import { toForgeError } from "../output/error-report.ts";
import type { Caller } from "./caller.ts";
import type { LineOutput } from "./line-output.ts";
import type { RpcMethod } from "./methods.ts";
import type { CallId, Request } from "./request.ts";

type Call = Extract<Request, { kind: "call" }>;

interface OpenCall {
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** Of a subscription that follows: everything that was durable at its start has been told. */
  caughtUp: boolean;
  /** It is ended because nobody calls any more, which is no failure. */
  isLeaving: boolean;
}

/** Each is a call to the server; more would only wait there. */
const OPEN_MAX = 1_000;
/** What a client of ours takes in one line. */
const ANSWER_BYTES_MAX = 96 * 1024 * 1024;

/** The calls that are under way, side by side, and their answers. */
export class Calls {
  readonly #caller: Caller;
  readonly #output: LineOutput;
  readonly #open = new Map<CallId, OpenCall>();
  #isEnding = false;

  constructor(caller: Caller, output: LineOutput) {
    this.#caller = caller;
    this.#output = output;
  }

  begin(call: Call): void {
    const { id } = call;
    if (this.#open.has(id)) {
      // Its own id would end the call that has it.
      this.refuse(null, new ForgeError(ErrorCode.CONFLICT, `call ${id} is still open: choose another id`, { reason: "CALL_OPEN", relatedIds: [String(id)] }));
      return;
    }
    if (this.#open.size >= OPEN_MAX) {
      this.refuse(id, new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `${OPEN_MAX} calls are open: wait for some of their answers`, { reason: "CALLS" }));
      return;
    }
    const stop = new AbortController();
    const isStream = call.method.method.methodKind !== "unary";
    const done = (isStream ? this.#stream(call, stop.signal) : this.#unary(call, stop.signal)).finally(() => this.#open.delete(id));
    this.#open.set(id, { stop, done, caughtUp: false, isLeaving: false });
  }

  /** One that has ended meanwhile is none any more, which is no error. */
  cancel(id: CallId): void {
    this.#open.get(id)?.stop.abort();
  }

  cancelAll(): void {
    for (const { stop } of this.#open.values()) stop.abort();
  }

  refuse(id: CallId | null, error: ForgeError): void {
    this.#output.write({ id, error: errorJson(error) });
  }

  /** Nobody calls any more: resolves when all is answered. Subscriptions that follow, which nobody can cancel now, end when they have caught up. */
  async end(): Promise<void> {
    this.#isEnding = true;
    for (const open of this.#open.values()) {
      if (!open.caughtUp || open.stop.signal.aborted) continue;
      open.isLeaving = true;
      open.stop.abort();
    }
    await Promise.all([...this.#open.values()].map(({ done }) => done));
  }

  async #unary({ id, method, message }: Call, signal: AbortSignal): Promise<void> {
    try {
      const answer = await this.#caller.unary(method, message, signal);
      this.#answer({ id, result: answerJson(method, answer) });
    } catch (error) {
      this.refuse(id, toForgeError(error));
    }
  }

  async #stream({ id, method, message }: Call, signal: AbortSignal): Promise<void> {
    this.#output.write({ id, result: {} });
    let end: JsonObject = {};
    try {
      for await (const each of this.#caller.stream(method, message, signal)) {
        this.#answer({ subscription: id, message: answerJson(method, each) });
        await this.#output.ready(signal);
        if (this.#hasCaughtUp(id, each) && this.#isEnding) break;
      }
    } catch (error) {
      if (this.#open.get(id)?.isLeaving !== true) end = { error: errorJson(toForgeError(error)) };
    }
    this.#output.write({ subscription: id, end });
  }

  #hasCaughtUp(id: CallId, message: Message): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return false;
    if (message.$typeName === "forge.event.v1.SubscribeEventsResponse") open.caughtUp ||= (message as SubscribeEventsResponse).kind.case === "caughtUp";
    return open.caughtUp;
  }

  /** Errors: resource_exhausted where the line would be longer than anybody takes. */
  #answer(line: JsonObject): void {
    if (!this.#output.write(line, ANSWER_BYTES_MAX)) {
      throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `the answer has more than ${ANSWER_BYTES_MAX} bytes: ask for less`, {
        reason: "LINE_TOO_LONG",
        retryable: false,
      });
    }
  }
}

function answerJson({ method }: RpcMethod, message: Message): JsonValue {
  return toJson(method.output, message, { useProtoFieldName: true });
}

function errorJson({ detail }: ForgeError): JsonValue {
  return toJson(ForgeErrorSchema, detail, { useProtoFieldName: true });
}

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ForgeError } from "@forge/protocol";
import { type ArtifactRef, ArtifactRefSchema, type Value, ValueSchema } from "@forge/protocol/common";
import {
  type ListChangesRequest,
  ListChangesRequestSchema,
  type ListChangesResponse,
  ListChangesResponseSchema,
  type ReadConversationRequest,
  ReadConversationRequestSchema,
  type ReadConversationResponse,
  ReadConversationResponseSchema,
} from "@forge/protocol/session";
import { type LeasedTask, type OutputDelta, OutputDeltaSchema, type Task, type TaskStart, TaskStartSchema } from "@forge/protocol/worker";
import type { TaskContext } from "@forge/worker";
import type { Method } from "./messages.ts";

type Ask = (method: Method, argument: unknown) => Promise<unknown>;

/** A task's context in the process of a file: everything is asked of the process that holds the lease. */
export class RemoteContext implements TaskContext {
  readonly lease: LeasedTask;
  readonly #ask: Ask;
  readonly #report: (delta: Uint8Array) => void;
  readonly #abort = new AbortController();

  constructor(lease: LeasedTask, ask: Ask, { report }: { readonly report: (delta: Uint8Array) => void }) {
    this.lease = lease;
    this.#ask = ask;
    this.#report = report;
  }

  get task(): Task {
    return this.lease.task as Task;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: ForgeError): void {
    this.#abort.abort(reason);
  }

  async start(kind: TaskStart["kind"]): Promise<void> {
    await this.#ask("start", toBinary(TaskStartSchema, create(TaskStartSchema, { kind })));
  }

  report(kind: OutputDelta["kind"]): void {
    this.#report(toBinary(OutputDeltaSchema, create(OutputDeltaSchema, { kind })));
  }

  /** Whoever holds the lease gives a call its process first. */
  queued(): void {}

  begun(): void {}

  /** Output without content is no output, only a sign of life. */
  heartbeat(): void {
    this.report({ case: undefined });
  }

  async readConversation(request: ReadConversationRequest): Promise<ReadConversationResponse> {
    const answer = await this.#ask("readConversation", toBinary(ReadConversationRequestSchema, create(ReadConversationRequestSchema, request)));
    return fromBinary(ReadConversationResponseSchema, answer as Uint8Array);
  }

  async listChanges(request: ListChangesRequest): Promise<ListChangesResponse> {
    const answer = await this.#ask("listChanges", toBinary(ListChangesRequestSchema, create(ListChangesRequestSchema, request)));
    return fromBinary(ListChangesResponseSchema, answer as Uint8Array);
  }

  async putArtifact(content: Uint8Array, mediaType: string): Promise<ArtifactRef> {
    return fromBinary(ArtifactRefSchema, (await this.#ask("putArtifact", { content, mediaType })) as Uint8Array);
  }

  async getArtifact(sha256: string): Promise<Uint8Array> {
    return (await this.#ask("getArtifact", sha256)) as Uint8Array;
  }

  async toValue(json: string): Promise<Value> {
    return fromBinary(ValueSchema, (await this.#ask("toValue", json)) as Uint8Array);
  }

  async fromValue(value: Value): Promise<string> {
    return (await this.#ask("fromValue", toBinary(ValueSchema, value))) as string;
  }
}

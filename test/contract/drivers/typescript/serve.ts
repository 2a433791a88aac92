import { create, type DescMessage, fromBinary, type Message, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { type ForgeClient, withRetry } from "@forge/client/web";
import { type CallOptions, ForgeError } from "@forge/protocol";
import { type DriverRequest, DriverRequestSchema, DriverResponseSchema, type OpenClient, type OpenStream, type UnaryCall } from "@forge/protocol/contract";
import type { SubscribeEventsRequest } from "@forge/protocol/event";
import { Credits } from "./credits.ts";
import { resumed } from "./resume.ts";
import type { Found } from "./services.ts";

export interface DriverOptions {
  readonly implementation: string;
  readonly language: string;
  /** What its clients have. */
  readonly methods: ReadonlyMap<string, Found>;
  openClient(options: OpenClient): Promise<ForgeClient>;
  /** Takes a DriverResponse, encoded. */
  send(response: Uint8Array<ArrayBuffer>): void;
}

type Answer = NonNullable<MessageInitShape<typeof DriverResponseSchema>["kind"]>;
type Unary = (request: Message, options: CallOptions) => Promise<Message>;
type Streaming = (request: Message, options: CallOptions) => AsyncIterable<Message>;

interface Stream {
  readonly client: bigint;
  readonly credits: Credits;
}

/** What a driver in TypeScript does with the suite's requests, wherever it runs: a browser's page has no streams of Node's. */
export class DriverServer {
  readonly #options: DriverOptions;
  readonly #clients = new Map<bigint, ForgeClient>();
  /** What gives a call or stream up, by its request. */
  readonly #underWay = new Map<bigint, AbortController>();
  readonly #streams = new Map<bigint, Stream>();

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** Takes a DriverRequest, encoded; the next one may be taken at once. Resolves when it is done, whatever came of it. */
  handle(bytes: Uint8Array): Promise<void> {
    const request = fromBinary(DriverRequestSchema, bytes);
    return this.#handle(request)
      .catch((error: unknown) => {
        const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.#answer(request.id, { case: "failure", value: { message } });
      })
      .finally(() => void this.#underWay.delete(request.id));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.keys()].map((id) => this.#close(id)));
  }

  async #handle({ id, kind }: DriverRequest): Promise<void> {
    const { implementation, language, methods } = this.#options;
    switch (kind.case) {
      case "describe":
        this.#answer(id, { case: "description", value: { implementation, language, methods: [...methods.keys()] } });
        return;
      case "openClient":
        this.#clients.set(id, await this.#options.openClient(kind.value));
        this.#answer(id, { case: "clientOpened", value: {} });
        return;
      case "closeClient":
        await this.#close(kind.value.client);
        this.#answer(id, { case: "clientClosed", value: {} });
        return;
      case "call":
        return this.#call(id, kind.value);
      case "openStream":
        return this.#open(id, kind.value);
      case "pull":
        this.#streams.get(kind.value.stream)?.credits.add(kind.value.count);
        return;
      case "cancel":
        this.#underWay.get(kind.value.target)?.abort();
        this.#streams.get(kind.value.target)?.credits.lift();
        return;
      default:
        throw new Error("a request of an unknown kind");
    }
  }

  async #call(id: bigint, asked: UnaryCall): Promise<void> {
    const { method, request, invoke } = this.#prepare(asked);
    const { signal } = this.#begin(id);
    const timeoutMs = asked.timeoutMs === 0 ? undefined : asked.timeoutMs;
    try {
      const once = () => (invoke as Unary)(request, { signal, timeoutMs });
      const response = asked.retry ? await withRetry(once, { signal }) : await once();
      this.#answer(id, { case: "call", value: { kind: { case: "response", value: anyPack(method.output, response) } } });
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      this.#answer(id, { case: "call", value: { kind: { case: "error", value: error.detail } } });
    }
  }

  async #open(id: bigint, asked: OpenStream): Promise<void> {
    const { client, method, request, invoke } = this.#prepare(asked);
    const { signal } = this.#begin(id);
    const timeoutMs = asked.timeoutMs === 0 ? undefined : asked.timeoutMs;
    const credits = new Credits(asked.pull);
    this.#streams.set(id, { client: asked.client, credits });
    try {
      const within = timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const messages = asked.resume ? resumed(client, request as SubscribeEventsRequest, within) : (invoke as Streaming)(request, { signal, timeoutMs });
      const iterator = messages[Symbol.asyncIterator]();
      for (;;) {
        await credits.take();
        const next = await iterator.next();
        if (next.done === true) break;
        if (!credits.lifted) this.#answer(id, { case: "streamItem", value: { message: anyPack(method.output, next.value) } });
      }
      this.#answer(id, { case: "streamEnd", value: {} });
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      this.#answer(id, { case: "streamEnd", value: { error: error.detail } });
    } finally {
      this.#streams.delete(id);
    }
  }

  async #close(clientId: bigint): Promise<void> {
    const client = this.#clients.get(clientId);
    this.#clients.delete(clientId);
    // A stream that waits to be asked for more learns of its end only when it is read.
    for (const stream of this.#streams.values()) if (stream.client === clientId) stream.credits.lift();
    await client?.close();
  }

  #begin(id: bigint): AbortController {
    const controller = new AbortController();
    this.#underWay.set(id, controller);
    return controller;
  }

  /** The method of the client that is to be called, and its request, decoded. */
  #prepare({ client: clientId, method: name, request: any }: Pick<UnaryCall, "client" | "method" | "request">) {
    const client = this.#clients.get(clientId);
    const found = this.#options.methods.get(name);
    if (client === undefined || found === undefined) throw new Error(client === undefined ? `there is no client ${clientId}` : `there is no method ${name}`);
    const { property, method } = found;
    const bound = client[property as "session"] as unknown as Record<string, Unary | Streaming>;
    return { client, method, request: unpack(any, method.input), invoke: bound[method.localName] as Unary | Streaming };
  }

  #answer(id: bigint, kind: Answer): void {
    this.#options.send(toBinary(DriverResponseSchema, create(DriverResponseSchema, { id, kind })));
  }
}

function unpack(any: Any | undefined, schema: DescMessage): Message {
  const message = any === undefined ? undefined : anyUnpack(any, schema);
  if (message === undefined) throw new Error(`${any?.typeUrl ?? "nothing"} is no ${schema.typeName}`);
  return message;
}

import { setTimeout as sleep } from "node:timers/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createConnectClient, type Followed, type FollowOptions, type ForgeClient, followEvents, isPassing } from "@forge/client";
import { type Address, dataDirectoryOf, projectQueue } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type WatchStreamsRequestSchema, type WatchStreamsResponse, WatchStreamsResponseSchema } from "@forge/protocol/event";
import { mayRunCode, trustOf } from "../agent/workspace-trust.ts";
import { toForgeError } from "../output/error-report.ts";
import { askServer } from "./ask-server.ts";
import { type Attached, attach } from "./attach.ts";
import { startBackground } from "./background.ts";
import { hasData } from "./locate-project.ts";
import type { Remote } from "./remote.ts";
import { settleData, type WantedCode } from "./settle-data.ts";

/** How a command reaches its project. */
export type Reach =
  /** A server that others may use as well. */
  | { readonly kind: "server"; readonly url: string; readonly pid: number; readonly started: boolean }
  /** A control plane that a person named; it is nobody's of this machine to start. */
  | { readonly kind: "remote"; readonly url: string }
  /** A server in this process, which ends with it. */
  | { readonly kind: "own"; readonly warnings: readonly string[] }
  /** The database alone, in this process: nothing goes on. The embedded one is kept from everybody else meanwhile. */
  | { readonly kind: "reader"; readonly isExclusive: boolean };

export interface LinkOptions {
  readonly root: string;
  /** Whether the command only reads, and so must not make anything go on. */
  readonly reads: boolean;
  /** Serve in this process where nobody serves the project. */
  readonly foreground: boolean;
  readonly code?: WantedCode;
  readonly environment: NodeJS.ProcessEnv;
  /** In place of the project's own server. */
  readonly remote?: Remote;
  readonly onProgress?: (message: string) => void;
}

/** Of a server that is started. */
interface Served {
  /** Whether what the project brings is run only where people have trusted it. */
  readonly trustedOnly: boolean;
}

interface Connection {
  readonly client: ForgeClient;
  readonly reach: Reach;
  close(): Promise<void>;
}

/** A server that nobody has used for so long ends itself. */
const IDLE = "60s";
const PATIENCE_MS = 60_000;
const LOOK_MS = 50;
/** Between attempts at a control plane that is nobody's of this machine. */
const AGAIN_MS = 1_000;
/** What still runs in a server of this process gets so long at the end; what does not finish goes on at the next start. */
const DRAIN_MS = 5_000;
/** What every control plane's executors serve; a project's own queue is served beside the project only. */
const REMOTE_QUEUE = "default";

/** A command's connection to its project: found or started, and found or started again when it is lost. */
export class ProjectLink {
  readonly root: string;
  readonly queue: string;
  readonly #options: LinkOptions;
  #connection: Connection;
  readonly #replaced: Connection[] = [];
  #exchanging: Promise<void> | undefined;

  private constructor(options: LinkOptions, queue: string, connection: Connection) {
    this.root = options.root;
    this.queue = queue;
    this.#options = options;
    this.#connection = connection;
  }

  static async open(options: LinkOptions): Promise<ProjectLink> {
    const { remote } = options;
    if (remote !== undefined) return new ProjectLink(options, REMOTE_QUEUE, await connectRemote(remote));
    const [queue, connection] = await Promise.all([projectQueue(options.root), connect(options)]);
    return new ProjectLink(options, queue, connection);
  }

  /** Of the connection as it is now. */
  get client(): ForgeClient {
    return this.#connection.client;
  }

  /** What of the project's code its command asks for. */
  get code(): WantedCode | undefined {
    return this.#options.code;
  }

  get reach(): Reach {
    return this.#connection.reach;
  }

  /** Where what it talks to is, for people. */
  get place(): string {
    return this.reach.kind === "remote" ? `at ${this.reach.url}` : `in ${this.root}`;
  }

  /** Whether what was started goes on when this command ends. */
  get outlives(): boolean {
    return this.reach.kind === "server" || this.reach.kind === "remote";
  }

  /** Makes a call, and again when the server was lost on the way: commands must carry the same id each time. */
  async call<T>(make: (client: ForgeClient) => Promise<T>): Promise<T> {
    const untilMs = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await make(this.client);
      } catch (error) {
        if (!isPassing(error) || Date.now() > untilMs) throw error;
        await sleep(LOOK_MS);
        await this.#restore();
      }
    }
  }

  /**
   * Follows events over any number of servers, as `followEvents` does over one. Where nobody serves the project nothing can happen: a command that only reads
   * then gives the database free for whoever wants to serve it, and waits for that one.
   */
  async *follow(options: Omit<FollowOptions, "onReconnect">): AsyncGenerator<Followed> {
    const cursors = new Map(options.streams.map((cursor) => [cursor.stream.id, cursor]));
    let caughtUp = false;
    for (;;) {
      const isParked = this.reach.kind === "reader" && this.reach.isExclusive && options.noFollow !== true;
      for await (const followed of this.#followOnce({ ...options, streams: [...cursors.values()], noFollow: options.noFollow === true || isParked })) {
        if (followed.kind === "event" && followed.event.stream !== undefined)
          cursors.set(followed.event.stream.id, { stream: followed.event.stream, afterSeq: Number(followed.event.seq) });
        if (followed.kind === "caughtUp" && caughtUp) continue;
        caughtUp ||= followed.kind === "caughtUp";
        yield followed;
      }
      if (!isParked || options.signal?.aborted === true) return;
      await this.#waitForServer(options.signal);
    }
  }

  /** Watches what lists show, over any number of servers: each begins with `ready`, after which the lists are read. Where nobody serves the project it waits for one. */
  async *watch(request: MessageInitShape<typeof WatchStreamsRequestSchema>, signal: AbortSignal): AsyncGenerator<WatchStreamsResponse> {
    while (!signal.aborted) {
      try {
        if (this.reach.kind === "reader" && this.reach.isExclusive) yield create(WatchStreamsResponseSchema, { kind: { case: "ready", value: {} } });
        else yield* this.client.event.watchStreams(request, { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error)) throw error;
      }
      if (this.reach.kind === "remote") await sleep(AGAIN_MS);
      else await this.#waitForServer(signal);
    }
  }

  async close(): Promise<void> {
    for (const connection of [...this.#replaced, this.#connection]) await connection.close();
  }

  async *#followOnce(options: FollowOptions): AsyncGenerator<Followed> {
    const lost = new AbortController();
    let failure: unknown;
    const signal = options.signal === undefined ? lost.signal : AbortSignal.any([options.signal, lost.signal]);
    const onReconnect = (): void => {
      (this.#options.reads && options.noFollow !== true ? this.#waitForServer(signal) : this.#restore()).catch((error: unknown) => {
        failure = error;
        lost.abort();
      });
    };
    const currentEvents = (): ForgeClient["event"] => this.client.event;
    const current: ForgeClient = {
      ...this.client,
      get event() {
        return currentEvents();
      },
    };
    yield* followEvents(current, { ...options, signal, onReconnect });
    if (failure !== undefined) throw toForgeError(failure);
  }

  #restore(): Promise<void> {
    return this.#exchange(async () => (await attach(this.root)) ?? connect(this.#options));
  }

  #waitForServer(signal: AbortSignal | undefined): Promise<void> {
    return this.#exchange(async () => {
      if (this.reach.kind === "reader") await this.#connection.close();
      while (signal?.aborted !== true) {
        const attached = await attach(this.root);
        if (attached !== undefined) return attached;
        await sleep(LOOK_MS);
      }
      return undefined;
    });
  }

  /** Puts another connection in place of this one; one exchange at a time. */
  #exchange(find: () => Promise<Attached | Connection | undefined>): Promise<void> {
    this.#exchanging ??= (async () => {
      // Nobody of this process would start it anew, and its client connects again by itself.
      if (this.reach.kind === "own" || this.reach.kind === "remote") return;
      const found = await find();
      if (found === undefined) return;
      const { reach } = this;
      if ("address" in found && reach.kind === "server" && found.address.pid === reach.pid && found.address.url === reach.url) {
        // The same server: its client connects again by itself.
        await found.client.close();
        return;
      }
      // What still calls over the old one finds out by itself.
      this.#replaced.push(this.#connection);
      this.#connection = "address" in found ? toServer(found, false) : found;
    })().finally(() => {
      this.#exchanging = undefined;
    });
    return this.#exchanging;
  }
}

/** Uses the server that is there, or starts one. Whoever holds the data without an address is starting, ending or only reading: it is waited for. */
async function connect(options: LinkOptions): Promise<Connection> {
  const { root, environment, code } = options;
  const untilMs = Date.now() + PATIENCE_MS;
  const { runsCode } = await settleData({ root, dataDirectory: dataDirectoryOf(root), environment, code });
  const trustedOnly = code === "trusted" || !runsCode;
  for (;;) {
    const attached = await attach(options.root);
    if (attached !== undefined) {
      if (options.reads || !(await isOutdated(options, attached.address)) || Date.now() > untilMs) return toServer(attached, false);
      await endServer(attached, untilMs);
      continue;
    }
    try {
      if (options.reads) return await startReader(options, { trustedOnly });
      if (options.foreground) return await startOwn(options, { trustedOnly });
      return await startShared(options, { trustedOnly });
    } catch (error) {
      const isHeld = error instanceof ForgeError && error.reason === "DATA_DIRECTORY_IN_USE";
      if (!isHeld || Date.now() > untilMs) throw error;
      await sleep(LOOK_MS);
    }
  }
}

/** Errors: storage_error where nothing answers; unauthenticated, permission_denied. */
async function connectRemote({ url, token, namespace }: Remote): Promise<Connection> {
  const client = createConnectClient({ url, token, namespace });
  try {
    const failure = await askServer(client);
    if (failure === undefined) return { client, reach: { kind: "remote", url }, close: () => client.close() };
    throw new ForgeError(ErrorCode.STORAGE_ERROR, `${url} does not answer (${failure.message}): is Forge running there?`, {
      reason: "SERVER_UNREACHABLE",
      origin: "client",
      cause: failure,
    });
  } catch (error) {
    await client.close();
    throw error;
  }
}

function toServer({ client, address: { url, pid } }: Attached, started: boolean): Connection {
  return { client, reach: { kind: "server", url, pid, started }, close: () => client.close() };
}

/** Whether a server that commands share runs less of the project than this command needs, or other than what people trust by now. */
async function isOutdated({ root, environment, code }: LinkOptions, address: Address): Promise<boolean> {
  if (address.endsWhenIdle !== true || code === undefined) return false;
  if (code === "all") return address.runsCode === false;
  const { state, digest } = await (await trustOf(environment)).readTrust(root);
  return (state === "trusted" ? digest : "") !== (address.trusted ?? "");
}

/** Ends a shared server, after what is running; another takes its place, and goes on with all that it did not finish. */
async function endServer({ client, address }: Attached, untilMs: number): Promise<void> {
  await client.close();
  try {
    process.kill(address.pid, "SIGTERM");
    while (Date.now() < untilMs) {
      process.kill(address.pid, 0);
      await sleep(LOOK_MS);
    }
  } catch (error) {
    // It is gone.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function startShared({ root, environment, onProgress }: LinkOptions, { trustedOnly }: Served): Promise<Connection> {
  onProgress?.((await hasData(root)) ? "Starting Forge" : "Starting Forge for the first time here: making a database");
  await startBackground({ root, environment, arguments: ["--idle", IDLE, ...(trustedOnly ? ["--trusted-only"] : [])] });
  const attached = await attach(root);
  if (attached === undefined) {
    throw new ForgeError(ErrorCode.STORAGE_ERROR, `the server that was started does not answer: see ${dataDirectoryOf(root)}/forge.log`, {
      reason: "SERVER_START",
      origin: "client",
    });
  }
  return toServer(attached, true);
}

async function startOwn({ root, environment, onProgress }: LinkOptions, { trustedOnly }: Served): Promise<Connection> {
  const { startOwnServer } = await import("./own-server.ts");
  const { server, warnings } = await startOwnServer({ root, environment, trustedOnly, onProgress });
  return { client: server.client, reach: { kind: "own", warnings }, close: () => server.close(DRAIN_MS) };
}

async function startReader({ root, environment, onProgress }: LinkOptions, { trustedOnly }: Served): Promise<Connection> {
  const [{ startProjectReader }, { readProjectSettings }, log] = await Promise.all([
    import("@forge/host"),
    import("./project-settings.ts"),
    import("./server-log.ts"),
  ]);
  // Where a server that runs none of the project's code has its data, and not where the project would have it.
  const runsCode = !trustedOnly || (await mayRunCode(environment, root));
  const { databaseUrl, databaseDirectUrl, project } = await readProjectSettings(root, environment, { runsCode });
  const logger = await log.createLogger({ file: await log.prepareLogFile(dataDirectoryOf(root)), level: project.config.logging.level });
  const reader = await startProjectReader({ root, databaseUrl, databaseDirectUrl, logger, onProgress });
  return { client: reader.client, reach: { kind: "reader", isExclusive: databaseUrl === undefined }, close: () => reader.close() };
}

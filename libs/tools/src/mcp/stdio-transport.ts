import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { type ProcessTree, startProcessTree } from "../process/process-tree.ts";
import { within } from "../process/within.ts";

const NEWLINE = 10;
/** How long a server may take to end by itself once its input has ended. */
const END_MS = 1_000;
const GRACE_MS = 1_000;
/** What is kept of its standard error, to be told when it dies. */
const LAST_WORDS_MAX = 2_000;

/** What to start. */
export interface StdioTransportOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of one message; the connection ends where one is larger. */
  readonly messageBytesMax: number;
}

/** Messages to and from a program, one a line. The program and all its descendants end with the transport, and with this process. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** By these two, the SDK knows a transport to a program. */
  readonly stderr = null;
  readonly #options: StdioTransportOptions;
  /** What came of a line that has not ended; joined once, when it has. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #tree: ProcessTree | undefined;
  #closed: Promise<void> | undefined;
  #lastWords = "";
  #broken = "";

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#tree?.child.pid ?? null;
  }

  /** Why it ended, for people; empty while it has not. */
  get ending(): string {
    return [this.#broken, this.#lastWords.trim() === "" ? "" : `its last words: ${this.#lastWords.trim()}`].filter((text) => text !== "").join("; ");
  }

  async start(): Promise<void> {
    const { command, cwd, environment } = this.#options;
    const tree = await startProcessTree(command, { cwd, environment, stdio: ["pipe", "pipe", "pipe"] });
    this.#tree = tree;
    tree.child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk));
    tree.child.stdout?.on("error", () => {});
    tree.child.stderr?.setEncoding("utf8");
    tree.child.stderr?.on("data", (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_MAX);
    });
    tree.child.stderr?.on("error", () => {});
    // EPIPE: it has ended, which is noticed below.
    tree.child.stdin?.on("error", () => {});
    void tree.exited.then(({ exitCode, signal }) => {
      this.#broken ||= signal === null ? `it ended with exit code ${exitCode}` : `it was ended by ${signal}`;
      return this.close();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#tree?.child.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable) throw new Error("the server does not run");
    if (!stdin.write(serializeMessage(message))) {
      // A server that reads nothing is noticed by its caller's time limit, not by this.
      await new Promise<void>((resolve) => {
        stdin.once("drain", resolve);
        stdin.once("close", resolve);
      });
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const tree = this.#tree;
    if (tree !== undefined) {
      tree.child.stdin?.end();
      await within(tree.exited, END_MS);
      await tree.stop({ graceMs: GRACE_MS });
      for (const stream of tree.child.stdio) stream?.destroy();
    }
    this.onclose?.();
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...this.#pieces, rest.subarray(0, end)]);
      this.#pieces = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#receive(line.toString("utf8").trimEnd());
    }
    if (rest.length === 0) return;
    this.#pieces.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes <= this.#options.messageBytesMax) return;
    this.#broken ||= `it answered with more than ${this.#options.messageBytesMax} bytes in one message`;
    this.#pieces = [];
    this.#bytes = 0;
    this.#tree?.child.stdout?.destroy();
    void this.close();
  }

  #receive(line: string): void {
    if (line === "") return;
    try {
      this.onmessage?.(deserializeMessage(line));
    } catch (error) {
      // A line that is no message, for example what a program prints for people; the next one may be.
      this.onerror?.(error as Error);
    }
  }
}

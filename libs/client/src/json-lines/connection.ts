import { fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { TRANSPORT } from "../status.ts";
import { Child, type Command } from "./child.ts";
import type { Line } from "./read-lines.ts";
import { toLine } from "./to-line.ts";

/** What a call hears. After an error, an end, or the result of one that is no stream, comes nothing more. */
export interface CallListener {
  readonly isStream: boolean;
  onResult(result: JsonValue): void;
  /** Of a stream; `bytes` is what its line had. */
  onMessage(message: JsonValue, bytes: number): void;
  onEnd(error?: ForgeError): void;
}

/** Calls over the lines of a process, which is started with the first one, and again with the first one after it has ended. */
export class JsonLinesConnection {
  readonly #command: Command;
  readonly #calls = new Map<number, CallListener>();
  #child: Child | undefined;
  #lastId = 0;

  constructor(command: Command) {
    this.#command = command;
  }

  /** Makes a call; the returned function cancels it, and it is told nothing more. */
  call(method: string, params: JsonValue, listener: CallListener): () => void {
    const child = (this.#child ??= this.#start());
    const id = ++this.#lastId;
    this.#calls.set(id, listener);
    child.write(toLine({ id, method, params }));
    return () => {
      if (this.#calls.delete(id)) child.write(toLine({ method: "cancel", params: { id } }));
    };
  }

  /** Resolves when the process has ended. */
  async close(): Promise<void> {
    await this.#child?.leave();
  }

  #start(): Child {
    const child = new Child(this.#command);
    void this.#listen(child);
    return child;
  }

  async #listen(child: Child): Promise<void> {
    let reason: string | undefined;
    try {
      for await (const line of child.lines()) this.#handle(line);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
      child.kill();
    }
    this.#child = undefined;
    const error = whyEnded(child, this.#command.command, reason);
    for (const [id, listener] of this.#calls) {
      this.#calls.delete(id);
      listener.onEnd(error);
    }
  }

  /** Errors: any, where the line is nothing that was to come. */
  #handle(line: Line): void {
    if (line.kind !== "text") throw new Error(line.kind === "tooLong" ? "it said a line that is too long" : "it said what is no UTF-8");
    const said = JSON.parse(line.text) as JsonObject;
    const id = Number(said.subscription ?? said.id);
    const listener = this.#calls.get(id);
    // A call that was cancelled may still be spoken of.
    if (listener === undefined) return;
    if (said.message !== undefined) listener.onMessage(said.message, line.bytes);
    else if (said.result !== undefined) {
      if (!listener.isStream) this.#calls.delete(id);
      listener.onResult(said.result);
    } else {
      const json = said.subscription === undefined ? said.error : (said.end as JsonObject | undefined)?.error;
      // What is no error fails here, while the call is still there to be told.
      const error = json === undefined ? undefined : toError(json);
      this.#calls.delete(id);
      listener.onEnd(error);
    }
  }
}

function toError(json: JsonValue): ForgeError {
  return ForgeError.from(fromJson(ForgeErrorSchema, json, { ignoreUnknownFields: true }));
}

/** Why a process that was called is gone: what it said itself, if it did. */
function whyEnded(child: Child, command: string, reason: string | undefined): ForgeError {
  if (child.startError !== undefined) {
    return ForgeError.validation("command", `${command} can't be started: ${child.startError.message}`, { origin: "client", cause: child.startError });
  }
  const said = reason ?? child.lastWords;
  try {
    const { error } = JSON.parse(said.slice(said.lastIndexOf("\n") + 1)) as { readonly error: JsonObject & { readonly code: string } };
    // The command line tells enum values without their prefix.
    return toError({ ...error, code: `ERROR_CODE_${error.code}` });
  } catch {
    // It ended without an error of its own: the call may or may not have had its effect.
    const message = `${command} has ended${said === "" ? "" : `: ${said}`}`;
    return new ForgeError(ErrorCode.STORAGE_ERROR, message, { reason: TRANSPORT, retryable: true, origin: "client" });
  }
}

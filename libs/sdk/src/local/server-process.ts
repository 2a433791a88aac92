import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { fromJson } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";

/** A server in a process of its own, which ends when its standard input does. */
export interface ServerProcess {
  readonly url: string;
  readonly dataDirectory: string;
  end(): Promise<void>;
}

/** The first start makes a database; one that recovers after a crash takes longest. */
const START_MS_MAX = 180_000;
/** A server gives what runs half a minute, and its own end a minute. */
const END_MS_MAX = 100_000;
const STDERR_LENGTH_MAX = 16_384;

/** Starts `forge up --json --until-stdin-ends` and waits until it is ready. Errors: those of the server; storage_error SERVER_START. */
export async function startServerProcess(command: readonly string[], environment: Readonly<Record<string, string | undefined>>): Promise<ServerProcess> {
  const [program = "", ...args] = command;
  // A session of its own: Ctrl-C is for the program to act on.
  const child = spawn(program, args, { env: environment, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => {
    printed = (printed + chunk.toString("utf8")).slice(-STDERR_LENGTH_MAX);
  });
  // EPIPE when it has ended, which is told by its exit.
  child.stdin.on("error", () => undefined);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), START_MS_MAX);
  try {
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([
      once(lines, "line", { signal: over.signal }).then(([line]) => line as string),
      exited.then((how) => Promise.reject(failure(how, printed))),
    ]);
    const { url, data_directory } = JSON.parse(first) as { readonly url: string; readonly data_directory: string };
    // From here on it keeps nobody alive: a program that has nothing to do any more ends, and the server with it.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
    return {
      url,
      dataDirectory: data_directory,
      end: async () => {
        child.ref();
        child.stdin.end();
        const last = setTimeout(() => child.kill("SIGKILL"), END_MS_MAX);
        await exited;
        clearTimeout(last);
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    if (!over.signal.aborted) throw error;
    throw failure(`it was not ready after ${START_MS_MAX / 1000} s`, printed);
  } finally {
    clearTimeout(timer);
  }
}

/** What the server said last: its error as JSON, or whatever ended it. */
function failure(how: string, printed: string): ForgeError {
  const lines = printed.trimEnd().split("\n");
  const told = lines.findLast((line) => line.startsWith('{"error":'));
  if (told !== undefined) {
    const { error } = JSON.parse(told) as { readonly error: { readonly code: string } };
    return ForgeError.from(fromJson(ForgeErrorSchema, { ...error, code: `ERROR_CODE_${error.code}` }, { ignoreUnknownFields: true }));
  }
  const tail = lines.slice(-5).join("\n");
  return new ForgeError(ErrorCode.STORAGE_ERROR, `Forge could not be started: ${how}${tail === "" ? "" : `\n${tail}`}`, {
    reason: "SERVER_START",
    origin: "client",
  });
}

import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { readAddress } from "@forge/host/project";
import { type Found, ok, problem, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

const ANSWER_MS_MAX = 2_000;

/** The project's own server, where one runs. */
export async function checkServer({ dataDirectory }: Subject, signal: AbortSignal): Promise<Found> {
  const file = path.join(dataDirectory, "address.json");
  const address = await readAddress(dataDirectory);
  if (address === undefined) {
    const isThere = await readFile(file).then(
      () => true,
      () => false, // Whatever the reason: there is no address to be stale.
    );
    return isThere
      ? warning(`${file} is left over from a server that is gone`, "nothing needs to be done: the next start replaces it")
      : ok("none runs; a command that needs one starts it");
  }
  const { url, pid, version } = address;
  const failure = await whyUnhealthy(url, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]));
  if (failure === undefined) return ok(`Forge ${version} serves the project at ${url} (process ${pid})`);
  return problem(
    `process ${pid} is said to serve the project at ${url}, and does not answer (${failure})`,
    "end it with npx forge down, or wait if it is just starting",
  );
}

async function whyUnhealthy(url: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { status } = await fetch(`${url}/healthz`, { signal });
    return status === 200 ? undefined : `status ${status}`;
  } catch (error) {
    return signal.aborted ? `no answer within ${ANSWER_MS_MAX / 1_000} s` : causeOf(error);
  }
}

/** fetch says only that it failed; why is in the cause. */
function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

/** Whether a server could listen here. */
export async function checkPort({ port, dataDirectory }: Subject): Promise<Found> {
  const wanted = port ?? 0;
  const failure = await whyNotListening(wanted);
  if (failure === undefined) return ok(wanted === 0 ? "a free port can be had on 127.0.0.1" : `port ${wanted} of 127.0.0.1 is free`);
  const address = await readAddress(dataDirectory).catch(() => undefined);
  if (failure === "EADDRINUSE" && address !== undefined && new URL(address.url).port === String(wanted))
    return ok(`port ${wanted} is the project's own server's`);
  if (failure === "EADDRINUSE") return problem(`port ${wanted} of 127.0.0.1 is in use`, "choose another with --port, or leave it out for any free one");
  if (failure === "EACCES") return problem(`this user may not listen on port ${wanted}`, "choose one above 1023");
  return problem(`nothing can listen on 127.0.0.1 (${failure})`, "look whether the loopback network is up: ip addr show lo");
}

function whyNotListening(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(undefined)));
  });
}

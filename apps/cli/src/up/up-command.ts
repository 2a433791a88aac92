import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { dataDirectoryOf, VERSION } from "@forge/host/project";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { showStatus } from "../output/status-line.ts";
import { startBackground } from "../server/background.ts";
import { locateProject } from "../server/locate-project.ts";
import { startOwnServer } from "../server/own-server.ts";
import { onSignals } from "../signals.ts";
import { untilIdle } from "./until-idle.ts";

export interface UpOptions extends CommonOptions {
  readonly detach?: boolean;
  readonly port?: number;
  readonly host?: string;
  /** Milliseconds. */
  readonly idle?: number;
  readonly dataDirectory?: string;
  readonly temporary?: boolean;
  readonly trustedOnly?: boolean;
  readonly untilStdinEnds?: boolean;
}

/** What still runs gets so long to finish; what does not, goes on at the next start. */
const DRAIN_MS = 30_000;
/** Ending takes moments; what has not ended by then never will, and nothing that must not be lost is lost by leaving. */
const END_MS_MAX = 60_000;
const HURRIED_END_MS_MAX = 10_000;

/** `forge up`: serves the project until it is told to stop. */
export async function upCommand(context: Context, options: UpOptions): Promise<number> {
  const { root, hint } = await locateProject(context, options, { hasData: false });
  const { dataDirectory } = options;
  if (dataDirectory !== undefined) options = { ...options, dataDirectory: path.resolve(context.directory, dataDirectory) };
  return options.detach === true ? detach(context, options, root, hint) : serve(context, options, root);
}

async function serve({ terminal, environment }: Context, options: UpOptions, root: string): Promise<number> {
  const end = Promise.withResolvers<"signal" | "idle">();
  let stop = (): void => end.resolve("signal");
  const signal = (): void => stop();
  const release = onSignals({ SIGINT: signal, SIGTERM: signal, SIGHUP: signal });
  const status = showStatus(terminal, options.json === true);
  if (options.untilStdinEnds === true) onEndOfInput(signal);
  const temporary = options.temporary === true ? await mkdtemp(path.join(tmpdir(), "forge-")) : undefined;
  try {
    // Who holds the other end of standard input may have gone without reading standard error.
    const logsToStandardError = !process.stderr.isTTY && options.untilStdinEnds !== true;
    const { server, database, warnings } = await startOwnServer({
      root,
      dataDirectory: temporary ?? options.dataDirectory,
      environment,
      host: options.host,
      port: options.port,
      trustedOnly: options.trustedOnly,
      endsWhenIdle: options.idle !== undefined,
      logsToStandardError,
      onProgress: status.say,
    });
    let isClosing = false;
    stop = () => {
      end.resolve("signal");
      // A second signal waits for nothing that runs.
      if (!isClosing) return;
      leaveAfter(HURRIED_END_MS_MAX);
      void server.close(0);
    };
    status.close();
    if (options.json === true) terminal.print(JSON.stringify({ url: server.url, pid: process.pid, data_directory: server.dataDirectory, version: VERSION }));
    else {
      for (const line of serverLines({ root, url: server.url, dataDirectory: server.dataDirectory, database })) terminal.print(line);
      if (!logsToStandardError) terminal.print(`  Log        ${server.dataDirectory}/forge.log`);
      terminal.print("Ctrl-C ends it, after what is running.");
    }
    for (const warning of [...warnings, ...exposure(options.host)]) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    const idle = options.idle === undefined ? undefined : untilIdle(server, options.idle);
    void idle?.promise.then(() => end.resolve("idle"));
    const why = await end.promise;
    idle?.stop();
    isClosing = true;
    if (options.json !== true && why === "signal") terminal.note("Ending, after what is running. Again: at once.");
    leaveAfter(DRAIN_MS + END_MS_MAX);
    await server.close(DRAIN_MS);
    return EXIT.OK;
  } finally {
    status.close();
    release();
    // Open, it would keep a process alive that has nothing to do any more.
    if (options.untilStdinEnds === true) process.stdin.destroy();
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

/** Calls back when standard input ends, as it does when the process that holds its other end is gone. */
function onEndOfInput(callBack: () => void): void {
  process.stdin.resume().once("close", callBack).once("error", callBack);
}

/** Ends the process the hard way where it has not ended by itself; the database ends with it. */
function leaveAfter(ms: number): void {
  setTimeout(() => process.exit(EXIT.FAILED), ms).unref();
}

async function detach({ terminal, environment }: Context, options: UpOptions, root: string, hint: string): Promise<number> {
  const status = showStatus(terminal, options.json === true);
  status.say("Starting Forge");
  const given = [
    ...(options.host === undefined ? [] : ["--host", options.host]),
    ...(options.port === undefined ? [] : ["--port", String(options.port)]),
    ...(options.idle === undefined ? [] : ["--idle", `${options.idle}ms`]),
    ...(options.trustedOnly === true ? ["--trusted-only"] : []),
  ];
  try {
    const { url, pid, version } = await startBackground({ root, environment, arguments: given, mustBeNew: true });
    status.close();
    const dataDirectory = dataDirectoryOf(root);
    if (options.json === true) {
      terminal.print(JSON.stringify({ url, pid, data_directory: dataDirectory, version }));
      return EXIT.OK;
    }
    for (const line of serverLines({ root, url, dataDirectory, pid })) terminal.print(line);
    terminal.print(`  Log        ${dataDirectory}/forge.log`);
    terminal.print(`npx forge down${hint} ends it.`);
    for (const warning of exposure(options.host)) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    return EXIT.OK;
  } finally {
    status.close();
  }
}

function serverLines(server: {
  readonly root: string;
  readonly url: string;
  readonly dataDirectory: string;
  readonly database?: string;
  readonly pid?: number;
}): string[] {
  return [
    `Forge ${VERSION} serves ${server.root}`,
    `  Address    ${server.url}`,
    `  Data       ${server.dataDirectory}`,
    ...(server.database === undefined ? [] : [`  Database   ${server.database}`]),
    ...(server.pid === undefined ? [] : [`  Process    ${server.pid}`]),
  ];
}

/** What a person should know who lets others in. */
function exposure(host: string | undefined): string[] {
  if (host === undefined || host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)) return [];
  return [`${host} can be reached by other machines, over a connection that is not encrypted: whoever has the token can run commands here`];
}

import { stat } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { findProject } from "@forge/workflow/find-project";
import type { Context, ServerOptions } from "../context.ts";
import { locateProject } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import { remoteOf } from "../server/remote.ts";
import { onSignals } from "../signals.ts";
import { JsonWorkerView } from "./json-worker-view.ts";
import { runPythonWorker } from "./python-worker.ts";
import { TextWorkerView } from "./text-worker-view.ts";
import { runTypeScriptWorker } from "./typescript-worker.ts";
import { connectRemotely, connectToProject, type WorkerConnection } from "./worker-connection.ts";
import type { WorkerSettings } from "./worker-settings.ts";
import type { WorkerView } from "./worker-view.ts";

export interface WorkerOptions extends ServerOptions {
  readonly name?: string;
  readonly queue?: readonly string[];
  readonly slots: number;
  /** False with --no-reload. */
  readonly reload: boolean;
}

const PYTHON = ".py";
const JAVASCRIPT: readonly string[] = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/** `forge worker`: serves what a file defines until it is told to stop. */
export async function workerCommand(context: Context, reference: string, options: WorkerOptions): Promise<number> {
  const { terminal, directory } = context;
  const file = path.resolve(directory, reference);
  await checkFile(file);
  const remote = remoteOf(context, options);
  const shown = path.relative(directory, file);
  const view: WorkerView = options.json === true ? new JsonWorkerView(terminal, shown) : new TextWorkerView(terminal, shown);
  const asked = new AbortController();
  const hurry = new AbortController();
  const end = (): void => {
    if (asked.signal.aborted) hurry.abort();
    else {
      asked.abort();
      view.onEnd();
    }
  };
  const release = onSignals({ SIGINT: end, SIGTERM: end, SIGHUP: end });
  const cleanup = new AsyncDisposableStack();
  try {
    let connection: WorkerConnection;
    let queues = ["default"];
    const moved = new EventTarget();
    if (remote !== undefined) connection = connectRemotely(remote);
    else {
      const root = await rootFor(file, context, options);
      const link = await openLink(context, options, { root, reads: false, code: "all" });
      cleanup.defer(() => link.close());
      if (link.reach.kind === "own") for (const warning of link.reach.warnings) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
      queues = [link.queue, "default"];
      const onMoved = (url: string): void => {
        view.onMoved(url);
        moved.dispatchEvent(new Event("moved"));
      };
      connection = await connectToProject(link, onMoved, (error) => view.onProblem(error));
    }
    cleanup.defer(() => connection.close());
    const { name = defaultName(file), queue, slots, reload } = options;
    const settings: WorkerSettings = { file, name, queues: queue ?? queues, slots, reload, isJson: options.json === true };
    const workerEnd = { asked: asked.signal, hurry: hurry.signal };
    if (path.extname(file) === PYTHON) return await runPythonWorker(context, connection, settings, workerEnd, moved);
    return await runTypeScriptWorker(context, connection, settings, workerEnd, view);
  } finally {
    release();
    await cleanup.disposeAsync();
  }
}

/** The project that was named, else the one that the file lies in, else the one of the working directory. */
async function rootFor(file: string, context: Context, options: WorkerOptions): Promise<string> {
  const around = options.project === undefined ? await findProject(path.dirname(file)) : undefined;
  return around ?? (await locateProject(context, options, { hasData: false })).root;
}

async function checkFile(file: string): Promise<void> {
  const extension = path.extname(file);
  if (extension !== PYTHON && !JAVASCRIPT.includes(extension))
    throw ForgeError.validation("file", `${file} is no file of a worker: write one in TypeScript, JavaScript (${JAVASCRIPT.join(", ")}) or Python (.py)`);
  try {
    if ((await stat(file)).isFile()) return;
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  throw new ForgeError(ErrorCode.NOT_FOUND, `there is no file ${file}`, { reason: "FILE_NOT_FOUND", origin: "client", metadata: { file } });
}

/** The name of the file, as far as a worker's name may hold it. */
function defaultName(file: string): string {
  return (
    path
      .parse(file)
      .name.replaceAll(/[^\x21-\x7e]/g, "-")
      .slice(0, 128) || "worker"
  );
}

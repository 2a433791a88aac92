import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { WorkerConnection } from "./worker-connection.ts";
import type { WorkerEnd, WorkerSettings } from "./worker-settings.ts";

const CHECK = "import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('forge_client') else 3)";
const CHECK_MS_MAX = 30_000;

/** `python -m forge_client.worker`, told by the system when this process is gone, however that ended; where the system can't tell, it goes on. */
const RUN = `
import ctypes, os, runpy, signal, sys
try:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
except (OSError, AttributeError):
    pass
if os.getppid() != int(sys.argv.pop(1)):
    sys.exit(1)
runpy.run_module("forge_client.worker", run_name="__main__", alter_sys=True)
`;

/** Serves a file of Python with the package forge-client, which does for it what this process does for TypeScript, until its end is asked for. */
export async function runPythonWorker(
  { environment, directory }: Context,
  connection: WorkerConnection,
  settings: WorkerSettings,
  { asked, hurry }: WorkerEnd,
  moved: EventTarget,
): Promise<number> {
  const python = environment.FORGE_PYTHON || "python3";
  checkPython(python, environment);
  const { file, name, queues, slots, reload, isJson } = settings;
  const words = [
    file,
    "--name",
    name,
    "--slots",
    String(slots),
    ...queues.flatMap((queue) => ["--queue", queue]),
    ...(reload ? ["--reload"] : []),
    ...(isJson ? ["--json"] : []),
  ];
  const start = (): ChildProcess => {
    const { url, token, namespace } = connection;
    const env = { ...environment, FORGE_URL: url, FORGE_TOKEN: token, ...(namespace === undefined ? {} : { FORGE_NAMESPACE: namespace }) };
    // A session of its own: Ctrl-C is told to it by this process.
    return spawn(python, ["-c", RUN, String(process.pid), ...words], { cwd: directory, env, detached: true, stdio: ["ignore", "inherit", "inherit"] });
  };
  let child = start();
  let isMoving = false;
  const terminate = (): void => void child.kill("SIGTERM");
  asked.addEventListener("abort", terminate, { once: true });
  hurry.addEventListener("abort", terminate, { once: true });
  moved.addEventListener("moved", () => {
    isMoving = true;
    terminate();
  });
  if (asked.aborted) terminate();
  for (;;) {
    const [code] = (await once(child, "close")) as [number | null];
    if (!isMoving || asked.aborted) return code ?? EXIT.FAILED;
    // The server is elsewhere now.
    isMoving = false;
    child = start();
  }
}

/** Errors: not_found where there is no such Python, or no forge-client for it. */
function checkPython(python: string, environment: NodeJS.ProcessEnv): void {
  const { error, status } = spawnSync(python, ["-c", CHECK], { env: environment, timeout: CHECK_MS_MAX, stdio: "ignore" });
  if (error !== undefined) {
    throw new ForgeError(ErrorCode.NOT_FOUND, `${python} can't be started (${error.message}): install Python 3.10 or newer, or name it with FORGE_PYTHON`, {
      reason: "PYTHON_NOT_FOUND",
      origin: "client",
    });
  }
  if (status === 0) return;
  const message = `${python} has no package forge-client: install it (${python} -m pip install ./libs/client-python), or name another Python with FORGE_PYTHON`;
  throw new ForgeError(ErrorCode.NOT_FOUND, message, { reason: "PYTHON_PACKAGE_NOT_FOUND", origin: "client" });
}

// A process that owns an embedded server, for tests to kill: `node owner.ts <data directory> <launcher>`. It prints one line of JSON for each thing that
// happens. When its standard input ends it stops the server, or does nothing more when it was told to "leave".
import { text } from "node:stream/consumers";
import { ForgeError } from "@forge/protocol";
import { chooseLauncher, directLauncher, type Launcher, unprivilegedUserLauncher, userNamespaceLauncher } from "../launcher.ts";
import { startEmbeddedWith } from "../start-embedded.ts";

/** A launcher whose servers never learn that their owner died, as when it dies in the moment of starting one. */
function deafLauncher(): Launcher {
  const launcher = userNamespaceLauncher();
  return { ...launcher, prefix: (deathSignal) => launcher.prefix(deathSignal).map((word) => (word.startsWith("--pdeathsig=") ? "--pdeathsig=clear" : word)) };
}

async function launcherNamed(name: string | undefined): Promise<Launcher> {
  switch (name) {
    case "chosen":
      return chooseLauncher();
    case "watchdog":
      return directLauncher(false);
    case "user-namespace":
      return userNamespaceLauncher();
    case "unprivileged-user":
      return unprivilegedUserLauncher();
    case "deaf":
      return deafLauncher();
    default:
      throw new Error(`There is no launcher ${name}.`);
  }
}

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const [dataDirectory = "", launcherName] = process.argv.slice(2);
try {
  const launcher = await launcherNamed(launcherName);
  const server = await startEmbeddedWith({ dataDirectory, onProgress: (message) => print({ progress: message }) }, launcher);
  process.on("SIGINT", () => print({ interrupted: true }));
  print({ started: { pid: server.pid, connection: server.connection, launcher: launcher.kind } });
  if ((await text(process.stdin)) !== "leave") await server.stop();
} catch (error) {
  if (!(error instanceof ForgeError)) throw error;
  print({ failed: { code: error.code, reason: error.reason, message: error.message } });
}

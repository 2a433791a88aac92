import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import os from "node:os";

// Restate's server as its npm package brings it, which ends with this process. Its settings come by its own environment variables.

const server = createRequire(createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json"));
const program = server.resolve(`@restatedev/restate-server-${os.platform()}-${os.arch()}/bin/restate-server`);
const child = spawn(program, ["--no-logo", "--listen-mode", "tcp"], { stdio: ["ignore", "ignore", "inherit"] });
child.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
child.on("exit", (code) => process.exit(code ?? 1));
process.on("disconnect", () => {
  child.kill("SIGKILL");
  process.exit(1);
});
process.on("message", () => void child.kill("SIGKILL"));
process.send?.({ type: "ready", pid: child.pid });

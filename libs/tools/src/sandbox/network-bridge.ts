// Runs in the sandbox, before the command and around it: what the command sends to a port of its own loopback goes through a Unix socket to the proxy outside.
// Parameters: the socket, the port, then the command. It needs nothing but Node, because nothing else of Forge need be visible there; and it is JavaScript as it
// stands, without a type to strip, which would make each command wait as long as for the rest of the sandbox twice over.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [socketPath = "", port = "", program = "", ...parameters] = process.argv.slice(2);

const server = createServer((client) => {
  const proxy = connect(socketPath);
  client.pipe(proxy);
  proxy.pipe(client);
  // Whatever breaks on one side is over on the other.
  client.on("error", () => proxy.destroy());
  proxy.on("error", () => client.destroy());
  client.on("close", () => proxy.destroy());
  proxy.on("close", () => client.destroy());
});

server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(program, parameters, { stdio: "inherit" });
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit("code" in error && error.code === "ENOENT" ? 127 : 126);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
});

// The command is told as well, by whoever tells this; its exit ends both.
process.on("SIGTERM", () => {});
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});

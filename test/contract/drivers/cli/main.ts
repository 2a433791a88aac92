import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { readFrames, toFrame } from "../../suite/frames.ts";
import { DriverServer } from "../typescript/serve.ts";
import { methodsOf } from "../typescript/services.ts";
import { createCliClient } from "./cli-client.ts";
import { WORDS } from "./words.ts";

// The driver of the command line: every call is one `forge ... --json`, by the words that a person would use. The command lines run in this process, since to start
// one for each of some thousand calls would take longer than all that is tested.

// No project's: the server is named by FORGE_URL.
const directory = await mkdtemp(path.join(tmpdir(), "forge-cli-"));
const driver = new DriverServer({
  implementation: "cli",
  language: "the command line",
  methods: new Map([...methodsOf("cli")].filter(([name]) => WORDS.has(name))),
  openClient: async (options) => createCliClient(options, directory),
  send: (response) => process.stdout.write(toFrame(response)),
});
for await (const frame of readFrames(process.stdin)) void driver.handle(frame);
await driver.close();
await rm(directory, { recursive: true, force: true });
process.exit(0);

import { readFrames, toFrame } from "../../suite/frames.ts";
import { closeShared, openClient } from "./clients.ts";
import type { ImplementationName } from "./implementations.ts";
import { DriverServer } from "./serve.ts";
import { methodsOf } from "./services.ts";

// The driver of every client in TypeScript: main.ts <implementation>.

const implementation = process.argv[2] as ImplementationName;
const driver = new DriverServer({
  implementation,
  language: "TypeScript",
  methods: methodsOf(implementation),
  openClient: (options) => openClient(implementation, options),
  send: (response) => process.stdout.write(toFrame(response)),
});
for await (const frame of readFrames(process.stdin)) void driver.handle(frame);
await driver.close();
await closeShared();
process.exit(0);

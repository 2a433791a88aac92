import path from "node:path";
import type { Implementation } from "../../suite/implementations.ts";

const NAMES = ["local", "connect", "connect-json", "connect-http1", "connect-http1-json", "grpc", "grpc-web", "grpc-js", "json-lines"] as const;

export type ImplementationName = (typeof NAMES)[number];

export const IMPLEMENTATIONS: readonly Implementation[] = NAMES.map((name) => ({
  name,
  language: "TypeScript",
  findsServer: name === "local",
  replacesServer: name === "json-lines",
  start: async () => ({ command: process.execPath, args: [path.join(import.meta.dirname, "main.ts"), name] }),
}));

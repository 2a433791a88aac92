import path from "node:path";
import type { Implementation } from "../../suite/implementations.ts";

export const IMPLEMENTATIONS: readonly Implementation[] = [
  {
    name: "cli",
    language: "the command line",
    replacesServer: true,
    start: async () => ({ command: process.execPath, args: [path.join(import.meta.dirname, "main.ts")] }),
  },
];

import path from "node:path";
import { findPython } from "@forge/python";
import type { Implementation } from "../../suite/implementations.ts";

const NAMES = ["python", "python-async"] as const;
const DRIVER = path.join(import.meta.dirname, "driver.py");

export const IMPLEMENTATIONS: readonly Implementation[] = NAMES.map((name) => ({
  name,
  language: "Python",
  start: async () => {
    const python = await findPython();
    return typeof python === "string" ? { command: python, args: ["-B", DRIVER, name] } : python;
  },
}));

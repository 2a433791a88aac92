import type { Capability, Task } from "@forge/protocol/worker";
import type { Outcome } from "@forge/worker";
import type { LogLevel } from "./messages.ts";

/** What a worker of a file has to say. */
export type FileWorkerEvent =
  /** It has joined; again after every change of what it serves. `isReload` where it served before. */
  | { readonly kind: "serving"; readonly capabilities: readonly Capability[]; readonly pid: number; readonly isReload: boolean }
  /** A changed file waits for the calls that run, because it serves something else than before. */
  | { readonly kind: "waiting"; readonly calls: number }
  | { readonly kind: "called"; readonly capability: Capability; readonly task: Task; readonly outcome: Outcome; readonly durationMs: number }
  /** The process has ended by itself; it is started again. */
  | { readonly kind: "exited"; readonly pid: number; readonly how: string; readonly restartMs: number }
  /** A call did not stop; the process was given up for it. */
  | { readonly kind: "stuck"; readonly pid: number }
  /** Something that keeps a file from being served, or the connection from working. */
  | { readonly kind: "problem"; readonly error: unknown }
  | { readonly kind: "log"; readonly level: LogLevel; readonly message: string }
  | { readonly kind: "output"; readonly stream: "stdout" | "stderr"; readonly line: string };

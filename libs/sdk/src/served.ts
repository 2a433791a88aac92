import type { TaskHandler } from "@forge/worker";
import { invalidDefinition } from "./definition.ts";

/** Calls at once: enough to wait for a few things at a time, few enough for one process. */
export const SLOTS_DEFAULT = 8;

/** Errors: validation, DEFINITION, where there is nothing to serve: the control plane would never send such a worker anything. */
export function checkServed(handlers: readonly TaskHandler[]): void {
  if (handlers.length === 0) throw invalidDefinition("definitions", "there is nothing to serve: define a tool, a function, a hook or a provider");
}

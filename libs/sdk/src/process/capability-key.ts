import type { Capability } from "@forge/protocol/worker";

/** What tells one capability of a worker from another. */
export function capabilityKey({ kind, name }: Capability): string {
  return `${kind} ${name}`;
}

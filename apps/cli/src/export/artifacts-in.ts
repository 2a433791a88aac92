import { type DescMessage, isMessage } from "@bufbuild/protobuf";
import { type ArtifactRef, ArtifactRefSchema } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";

const SHA256 = /^[0-9a-f]{64}$/;

/** The hashes of all artifacts that events name, in order of their first mention. */
export function artifactsIn(events: Iterable<Event>): Set<string> {
  const found = new Set<string>();
  for (const event of events) look(event, found);
  return found;
}

function look(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  if (isMessage(value, ArtifactRefSchema as DescMessage)) {
    const { sha256 } = value as ArtifactRef;
    if (SHA256.test(sha256)) found.add(sha256);
    return;
  }
  for (const each of Object.values(value)) look(each, found);
}

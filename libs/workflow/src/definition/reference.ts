import { normalizeVersion } from "./version.ts";

/** A workflow or an agent by id, and by version where one is wanted; else the latest. */
export interface Reference {
  readonly id: string;
  readonly version: string | undefined;
}

const REFERENCE = /^([A-Za-z0-9_-]{1,128})(?:@(.{1,64}))?$/;

/** Parses `id` or `id@version`. */
export function parseReference(text: string): Reference | undefined {
  const match = REFERENCE.exec(text);
  if (match === null) return undefined;
  const [, id, written] = match;
  const version = written === undefined ? undefined : normalizeVersion(written);
  return written !== undefined && version === undefined ? undefined : { id: id as string, version };
}

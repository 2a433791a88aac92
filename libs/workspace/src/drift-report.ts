import type { ForgeClient } from "@forge/client";
import { compareUtf8, type Entry, EntryType, type Revision } from "@forge/protocol/workspace";
import { exclusion, isExcludedDeep } from "./directory/exclusion.ts";
import { openRoot } from "./directory/open-directory.ts";
import { scan } from "./directory/scan.ts";
import type { Progress } from "./progress.ts";
import { readManifest } from "./read-manifest.ts";

export interface DriftOptions {
  /** As it was given when the revision was captured: what is left out is compared on neither side. */
  readonly exclude?: readonly string[];
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** One difference between a revision and a directory. */
export interface DriftEntry {
  readonly path: string;
  /** Seen from the revision: added is what is in the directory only. */
  readonly change: "added" | "removed" | "changed";
  /** For people: `+`, `-` or `~`. */
  readonly marker: "+" | "-" | "~";
  /** Of what changed: what is other than in the revision. */
  readonly differs: readonly ("content" | "mode" | "type" | "target")[];
}

export interface DriftReport {
  readonly revision: Revision;
  /** In order of the paths; none: the directory is as the revision says. */
  readonly entries: readonly DriftEntry[];
}

type State = Pick<Entry, "type" | "mode" | "size" | "sha256" | "target">;

/** Of what a revision can't hold, a socket for example. */
const OTHER: State = { type: EntryType.UNSPECIFIED, mode: 0, size: 0n, sha256: "", target: "" };

/**
 * How a directory differs from a revision. A file is read only where its size is the revision's. Errors: not_found; validation, of a name that is not UTF-8;
 * permission_denied; conflict, FILE_CHANGING; cancelled.
 */
export async function driftReport(
  client: Pick<ForgeClient, "workspace">,
  revisionId: string,
  directory: string,
  options: DriftOptions = {},
): Promise<DriftReport> {
  const { onProgress, signal } = options;
  await using root = await openRoot(directory);
  const isExcluded = exclusion(options.exclude);
  const known = await readManifest(client, revisionId, signal);
  const before = new Map<string, State>();
  for (const entry of known.entries) if (!isExcludedDeep(isExcluded, entry.path)) before.set(entry.path, entry);
  let [files, bytes] = [0, 0];
  const onFile = (size: bigint): void => {
    files++;
    bytes += Number(size);
    onProgress?.({ phase: "reading", files, bytes });
  };
  const isRead = (path: string, size: bigint): boolean => {
    const kept = before.get(path);
    return kept?.type === EntryType.FILE && kept.size === size;
  };
  const found = await scan(root, { isExcluded, isRead, onFile, signal });
  const after = new Map<string, State>(found.others.map(({ path }) => [path, OTHER]));
  for (const entry of found.entries) after.set(entry.path, entry);
  return { revision: known.revision, entries: compare(before, after) };
}

function compare(before: ReadonlyMap<string, State>, after: ReadonlyMap<string, State>): DriftEntry[] {
  const entries: DriftEntry[] = [];
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort(compareUtf8)) {
    const [old, now] = [before.get(path), after.get(path)];
    if (old === undefined) entries.push({ path, change: "added", marker: "+", differs: [] });
    else if (now === undefined) entries.push({ path, change: "removed", marker: "-", differs: [] });
    else {
      const differs = differences(old, now);
      if (differs.length > 0) entries.push({ path, change: "changed", marker: "~", differs });
    }
  }
  return entries;
}

function differences(old: State, now: State): DriftEntry["differs"] {
  if (old.type !== now.type) return ["type"];
  const differs: DriftEntry["differs"][number][] = [];
  if (old.sha256 !== now.sha256) differs.push("content");
  if (old.mode !== now.mode) differs.push("mode");
  if (old.target !== now.target) differs.push("target");
  return differs;
}

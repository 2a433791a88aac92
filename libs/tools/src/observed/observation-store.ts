import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isGone, type Owner, thisProcess } from "../changes/process-owner.ts";
import { ContentPack, type PackedContent } from "./content-pack.ts";
import { type DirectoryNode, loadedManifest, savedManifest } from "./manifest.ts";

const VERSION = 2;
const MANIFEST = "manifest.json";
const PACK = "contents.pack";
const NAME = /^([0-9a-f]{8})-(\d+)-(\d*)-[0-9a-f]{8}$/;

interface SavedManifest {
  readonly version: number;
  /** What a manifest depends on beside the workspace's own files. */
  readonly key: string;
  readonly contents: readonly (readonly [string, PackedContent])[];
  readonly root: Parameters<typeof loadedManifest>[0];
}

/**
 * What is known of a workspace, on disk: the manifest and the contents of its files. It belongs to one process; what a process that is gone has left is taken
 * over, so that a workspace is read once and not at every start.
 */
export class ObservationStore {
  readonly #directory: string;
  readonly pack: ContentPack;
  /** Undefined where nothing was left, or nothing that can be used. */
  readonly known: DirectoryNode | undefined;

  /** `directory` holds those of all processes. */
  constructor(directory: string, options: { readonly key: string; readonly bytesMax: number }) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#directory = join(directory, nameOf(thisProcess()));
    takeOver(directory, this.#directory);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const saved = this.#load(options.key);
    this.pack = new ContentPack(join(this.#directory, PACK), options.bytesMax, saved?.contents);
    this.known = saved === undefined ? undefined : loadedManifest(saved.root);
  }

  save(root: DirectoryNode, key: string): void {
    const saved: SavedManifest = { version: VERSION, key, contents: [...this.pack.entries()], root: savedManifest(root) };
    const path = join(this.#directory, MANIFEST);
    writeFileSync(`${path}.new`, JSON.stringify(saved), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  /** Everything is read again at the next start. */
  forget(): void {
    rmSync(join(this.#directory, MANIFEST), { force: true });
  }

  #load(key: string): SavedManifest | undefined {
    try {
      const saved = JSON.parse(readFileSync(join(this.#directory, MANIFEST), "utf8")) as SavedManifest;
      return saved.version === VERSION && saved.key === key ? saved : undefined;
    } catch {
      // None was left, or a piece of one: everything is read.
      return undefined;
    }
  }
}

function nameOf({ host, pid, startedAt }: Owner): string {
  return `${host}-${pid}-${startedAt}-${randomBytes(4).toString("hex")}`;
}

/** Gives the newest one that nobody owns any more a new name, and removes the others. A name that is taken by somebody else first is simply not there. */
function takeOver(directory: string, own: string): void {
  const left = readdirSync(directory)
    .filter((name) => {
      const [, host, pid, startedAt] = NAME.exec(name) ?? [];
      return host !== undefined && isGone({ host, pid: Number(pid), startedAt: startedAt ?? "" });
    })
    .map((name) => ({ path: join(directory, name), savedAt: statSync(join(directory, name, MANIFEST), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => other.savedAt - one.savedAt);
  let isTaken = false;
  for (const { path } of left) {
    try {
      if (isTaken) rmSync(path, { recursive: true, force: true });
      else renameSync(path, own);
      isTaken = true;
    } catch {
      // Another process was faster.
    }
  }
}

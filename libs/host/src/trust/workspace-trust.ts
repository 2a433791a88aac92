import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type CodeDirectories, type ExecutingFile, type ExecutingFiles, type ExecutingKind, findExecutingFiles } from "./executing-files.ts";

/** Whether what a workspace brings may run. */
export interface TrustState {
  /** Changed: it was trusted, and what would run is not what it was. A workspace where nothing would run is trusted. */
  readonly state: "trusted" | "untrusted" | "changed";
  /** Whether a person said yes to exactly this, also where nothing would run. */
  readonly isExplicit: boolean;
  /** Of all that would run; what a person says yes to. */
  readonly digest: string;
  /** What would run, in order of path. */
  readonly executes: readonly { readonly path: string; readonly kind: ExecutingKind }[];
  /** Of a changed one: paths that are new, gone or other than they were. */
  readonly changed: readonly string[];
  /** The text of .mcp.json, .forge/hooks.toml and .forge/tests.toml, as it was looked at, by path. */
  readonly texts: ReadonlyMap<string, string>;
}

/** What people have said of workspaces. */
export interface WorkspaceTrust {
  /** Errors: resource_exhausted, TRUST_TOO_LARGE. */
  readTrust(root: string): Promise<TrustState>;
  /** Lets what a workspace brings run, as it was shown. Errors: conflict, TRUST_CHANGED, where it has another digest by now; validation, TRUST_STATE_INSIDE. */
  trust(root: string, digest: string): Promise<void>;
  /** Takes it back. Whether there was anything to be taken back. */
  distrust(root: string): Promise<boolean>;
}

interface Kept {
  readonly root: string;
  readonly digest: string;
  /** Digests by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly trustedAt: string;
}

/** `directoriesOf` tells where a project keeps tools and functions beside the usual places. */
export function workspaceTrust(stateDirectory: string, directoriesOf: (root: string) => Promise<CodeDirectories> = async () => ({})): WorkspaceTrust {
  const directory = path.join(stateDirectory, "trust");

  async function look(root: string): Promise<ExecutingFiles & { readonly real: string; readonly digest: string }> {
    const real = await realpath(root);
    const found = await findExecutingFiles(real, await directoriesOf(real));
    return { ...found, real, digest: digestOf(found.files) };
  }

  return {
    async readTrust(root) {
      const { real, files, texts, digest } = await look(root);
      const kept = await read(fileOf(directory, real), real);
      const isStateInside = await isInside(real, directory);
      const isExplicit = kept?.digest === digest && !isStateInside;
      const told = { digest, isExplicit, executes: files.map(({ path: file, kind }) => ({ path: file, kind })), texts };
      if (files.length === 0) return { ...told, state: "trusted", changed: [] };
      if (kept === undefined || isStateInside) return { ...told, state: "untrusted", changed: [] };
      if (isExplicit) return { ...told, state: "trusted", changed: [] };
      return { ...told, state: "changed", changed: changesOf(kept, files) };
    },
    async trust(root, digest) {
      const { real, files, digest: now } = await look(root);
      if (await isInside(real, directory)) {
        throw ForgeError.validation("root", `${real} can't be trusted: what people trust is kept in ${directory}, where the workspace could change it`, {
          reason: "TRUST_STATE_INSIDE",
          origin: "client",
        });
      }
      if (now !== digest) {
        throw new ForgeError(ErrorCode.CONFLICT, `what ${real} would run has changed since it was shown: look again`, {
          reason: "TRUST_CHANGED",
          origin: "client",
        });
      }
      const kept: Kept = {
        root: real,
        digest,
        files: Object.fromEntries(files.map(({ path: file, sha256 }) => [file, sha256])),
        trustedAt: new Date().toISOString(),
      };
      await write(fileOf(directory, real), JSON.stringify(kept));
    },
    async distrust(root) {
      const real = await realpath(root);
      const file = fileOf(directory, real);
      const had = (await read(file, real)) !== undefined;
      await rm(file, { force: true });
      return had;
    },
  };
}

/** One file for each workspace: nobody who trusts one writes what somebody else says of another. */
function fileOf(directory: string, real: string): string {
  return path.join(directory, `${createHash("sha256").update(real).digest("hex").slice(0, 32)}.json`);
}

function digestOf(files: readonly ExecutingFile[]): string {
  return createHash("sha256")
    .update(JSON.stringify(files.map(({ path: file, kind, sha256 }) => [file, kind, sha256])))
    .digest("hex");
}

function changesOf(kept: Kept, files: readonly ExecutingFile[]): string[] {
  const now = new Map(files.map(({ path: file, sha256 }) => [file, sha256]));
  const changed = files.filter(({ path: file, sha256 }) => kept.files[file] !== sha256).map(({ path: file }) => file);
  return [...changed, ...Object.keys(kept.files).filter((file) => !now.has(file))].sort();
}

/** Wherever links lead; the directory need not exist yet. */
async function isInside(root: string, directory: string): Promise<boolean> {
  const real = await realpath(directory).catch(() => undefined);
  if (real === undefined && path.dirname(directory) !== directory) return await isInside(root, path.dirname(directory));
  const relative = path.relative(root, real ?? directory);
  return !relative.startsWith("..") && !path.isAbsolute(relative);
}

async function read(file: string, real: string): Promise<Kept | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const kept = JSON.parse(text) as Kept;
    return kept.root === real && typeof kept.digest === "string" && typeof kept.files === "object" ? kept : undefined;
  } catch {
    // Whatever it was, it is nobody's yes.
    return undefined;
  }
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

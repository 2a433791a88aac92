import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import path from "node:path";

/** Whose a data directory is. One that a repository or an archive brought along holds a database, an address and a token of somebody else: using it would run what they say. */
export type DataOrigin =
  /** Nothing is kept there yet. */
  | { readonly kind: "none" }
  /** This user's Forge has made it or taken it over, on this machine and at this place. */
  | {
      readonly kind: "own";
      /** A person has asked here for what the project brings to be run. */
      readonly runsCode: boolean;
    }
  | { readonly kind: "foreign" };

interface Claim {
  readonly id: string;
  readonly runsCode: boolean;
}

/** Whoever copies directories tells by this file that one, with the tokens in it, is not to be copied. It holds the id by which the user's own are known. */
const MARKER = ".forge-data";
/** What is there before anything is kept. */
const EMPTY: ReadonlySet<string> = new Set([MARKER, ".gitignore", "forge.log"]);

/** Makes the data directory, for its owner only, and keeps all of it out of the project's repository. */
export async function makeDataDirectory(dataDirectory: string): Promise<void> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await writeFile(path.join(dataDirectory, ".gitignore"), "*\n");
  await writeNew(path.join(dataDirectory, MARKER), "");
}

/** Whose the data directory is, by what the state directory says of it. */
export async function dataOrigin(stateDirectory: string, dataDirectory: string): Promise<DataOrigin> {
  const names = await orNothing(readdir(dataDirectory), []);
  if (names.every((name) => EMPTY.has(name))) return { kind: "none" };
  const [id, claim] = await Promise.all([markerOf(dataDirectory), readClaim(await claimFile(stateDirectory, dataDirectory))]);
  return id !== "" && claim?.id === id ? { kind: "own", runsCode: claim.runsCode } : { kind: "foreign" };
}

/** Makes the data directory, or takes it over: it is the user's own from now on. `runsCode` is kept once it was true. */
export async function claimData(stateDirectory: string, dataDirectory: string, { runsCode }: { readonly runsCode: boolean }): Promise<void> {
  await makeDataDirectory(dataDirectory);
  const marker = path.join(dataDirectory, MARKER);
  // Of two that begin at once, one names it, and both keep that name.
  if ((await markerOf(dataDirectory)) === "") await replace(marker, randomUUID());
  const id = await markerOf(dataDirectory);
  const file = await claimFile(stateDirectory, dataDirectory);
  const before = await readClaim(file);
  const claim: Claim = { id, runsCode: runsCode || (before?.id === id && before.runsCode) };
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await replace(file, `${JSON.stringify(claim)}\n`);
  // Another may have named it between: what is there last is what counts.
  if ((await markerOf(dataDirectory)) !== id) await claimData(stateDirectory, dataDirectory, { runsCode });
}

async function markerOf(dataDirectory: string): Promise<string> {
  return (await orNothing(readFile(path.join(dataDirectory, MARKER), "utf8"), "")).trim();
}

async function claimFile(stateDirectory: string, dataDirectory: string): Promise<string> {
  const real = await realpath(dataDirectory);
  return path.join(stateDirectory, "data", `${createHash("sha256").update(real).digest("hex")}.json`);
}

async function readClaim(file: string): Promise<Claim | undefined> {
  const text = await orNothing(readFile(file, "utf8"), undefined);
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Partial<Claim> | null;
    return typeof value?.id === "string" ? { id: value.id, runsCode: value.runsCode === true } : undefined;
  } catch {
    // Cut short by a full disk: it is claimed anew.
    return undefined;
  }
}

async function replace(file: string, content: string): Promise<void> {
  const fresh = `${file}.${process.pid}.${randomUUID()}`;
  await writeFile(fresh, content, { mode: 0o600 });
  await rename(fresh, file);
}

async function writeNew(file: string, content: string): Promise<void> {
  await writeFile(file, content, { flag: "wx" }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}

async function orNothing<T>(reading: Promise<T>, nothing: T): Promise<T> {
  return reading.catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return nothing;
    throw error;
  });
}

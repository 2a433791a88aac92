import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/** Where a project's server is found; in its data directory. */
export interface Address {
  readonly url: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
  /** Whether what the project brings is run, beyond what people have trusted. */
  readonly runsCode?: boolean;
  /** The digest of what people have trusted of it, as the server runs it; empty: nothing. */
  readonly trusted?: string;
  /** It was started by a command, for those who use it. */
  readonly endsWhenIdle?: boolean;
}

const FILE = "address.json";

export async function writeAddress(dataDirectory: string, address: Address): Promise<void> {
  const file = path.join(dataDirectory, FILE);
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(address, undefined, 2)}\n`, { mode: 0o600 });
  await rename(fresh, file);
}

/** The server that wrote its address last, where its process is still there; undefined otherwise, also where the file holds something else. */
export async function readAddress(dataDirectory: string): Promise<Address | undefined> {
  const text = await readFile(path.join(dataDirectory, FILE), "utf8").catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  });
  const address = text === undefined ? undefined : parse(text);
  return address !== undefined && isAlive(address.pid) ? address : undefined;
}

function parse(text: string): Address | undefined {
  try {
    const value = JSON.parse(text) as Partial<Address> | null;
    // A process id below 1 would stand for a group of processes.
    const isAddress = typeof value?.url === "string" && URL.canParse(value.url) && Number.isSafeInteger(value.pid) && (value.pid as number) > 0;
    return isAddress ? (value as Address) : undefined;
  } catch {
    // A full disk or a person's hand: the next server writes it anew.
    return undefined;
  }
}

/** Removes the address, where it is still this process's. */
export async function removeAddress(dataDirectory: string): Promise<void> {
  const address = await readAddress(dataDirectory);
  if (address?.pid === process.pid) await rm(path.join(dataDirectory, FILE), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

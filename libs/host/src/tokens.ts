import { createHash, randomBytes } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Store, StoredPrincipal } from "@forge/engine/ports";

const TOKEN = /^forge_[A-Za-z0-9_-]{43}$/;

/** A fresh token: 256 random bits. */
export function newToken(): string {
  return `forge_${randomBytes(32).toString("base64url")}`;
}

/** What is kept of a token. */
export function tokenHash(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

/** A principal's id that belongs to one token: on a database that many share, a new token must not take the place of another's. */
export function principalOf(name: string, token: string): string {
  return `${name}:${createHash("sha256").update(token).digest("hex").slice(0, 12)}`;
}

/** The token in a file that only its owner may read; made where there is none. Whoever asks at the same time gets the same one. */
export async function tokenIn(directory: string, name: string): Promise<string> {
  const file = path.join(directory, name);
  const fresh = `${file}.${randomBytes(8).toString("hex")}`;
  for (let attempt = 0; ; attempt++) {
    const kept = await readIfThere(file);
    if (kept !== undefined && TOKEN.test(kept.trim())) return kept.trim();
    const token = newToken();
    await writeFile(fresh, `${token}\n`, { mode: 0o600, flag: "wx" });
    try {
      // A link never replaces a file that another process has just made; one that holds no token is in nobody's use.
      if (kept === undefined) await link(fresh, file);
      else await rename(fresh, file);
      return token;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt > 0) throw error;
    } finally {
      await rm(fresh, { force: true });
    }
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Makes a token known to the store under a principal. */
export async function grant(store: Store, token: string, principal: StoredPrincipal): Promise<void> {
  await store.savePrincipal(principal, tokenHash(token));
}

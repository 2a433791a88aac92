import { createHash, randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
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

/** The token in a file that only its owner may read; made where there is none. */
export async function tokenIn(directory: string, name: string): Promise<string> {
  const file = path.join(directory, name);
  const kept = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  if (TOKEN.test(kept.trim())) return kept.trim();
  const token = newToken();
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${token}\n`, { mode: 0o600, flag: "wx" });
  await rename(fresh, file);
  return token;
}

/** Makes a token known to the store under a principal. */
export async function grant(store: Store, token: string, principal: StoredPrincipal): Promise<void> {
  await store.savePrincipal(principal, tokenHash(token));
}

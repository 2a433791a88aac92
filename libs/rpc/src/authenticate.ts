import { createHash } from "node:crypto";
import { Lru } from "@forge/core";
import type { StoredPrincipal } from "@forge/engine/ports";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** Looks a credential up by the SHA-256 of its token. */
export type FindPrincipal = (tokenHash: Uint8Array) => Promise<StoredPrincipal | undefined>;

/** A credential that was just used is not looked up again for so long; so long may one that was withdrawn still work. */
const CACHE_MS = 5_000;
const CACHE_MAX = 10_000;
const BEARER = /^bearer ([\x21-\x7e]{16,512})$/i;

/** Who holds a request's bearer token, as of so many milliseconds ago at most; absent: 5 s. Errors: unauthenticated, TOKEN_EXPIRED where it once was good. */
export type Authenticate = (authorization: string | null, ageMsMax?: number) => Promise<StoredPrincipal>;

export function createAuthenticator(find: FindPrincipal): Authenticate {
  const known = new Lru<{ readonly principal: StoredPrincipal; readonly sinceMs: number }>(CACHE_MAX);
  const looking = new Map<string, { readonly sinceMs: number; readonly found: Promise<StoredPrincipal | undefined> }>();
  return async (authorization, ageMsMax = CACHE_MS) => {
    const token = BEARER.exec(authorization ?? "")?.[1];
    if (token === undefined) {
      throw new ForgeError(
        ErrorCode.UNAUTHENTICATED,
        "every request carries a token: send the header `authorization: Bearer <token>`; the one of a local server is beside its data",
      );
    }
    const hash = createHash("sha256").update(token).digest();
    const key = hash.toString("hex");
    const cached = known.get(key);
    if (cached !== undefined && Date.now() - cached.sinceMs < ageMsMax) return checkNotExpired(cached.principal);
    // The streams of one token are looked at together: they ask once.
    const look = looking.get(key) ?? { sinceMs: Date.now(), found: find(hash).finally(() => looking.delete(key)) };
    looking.set(key, look);
    const { sinceMs } = look;
    const principal = await look.found;
    if (principal === undefined) throw new ForgeError(ErrorCode.UNAUTHENTICATED, "this token is not known here: it was made for another server, or withdrawn");
    known.set(key, { principal, sinceMs });
    return checkNotExpired(principal);
  };
}

function checkNotExpired(principal: StoredPrincipal): StoredPrincipal {
  const { id, expiresAtMs } = principal;
  if (expiresAtMs === undefined || expiresAtMs > Date.now()) return principal;
  const at = new Date(expiresAtMs).toISOString();
  throw new ForgeError(ErrorCode.UNAUTHENTICATED, `the token ${id} expired at ${at}: ask an admin for another (forge token add)`, {
    reason: "TOKEN_EXPIRED",
    metadata: { expired_at: at },
  });
}

/** The namespace of a request: what its header names, where the credential grants it. Errors: permission_denied. */
export function namespaceOf(principal: StoredPrincipal, header: string | null): string {
  const namespace = header ?? principal.namespaces[0] ?? "default";
  if (!principal.namespaces.includes(namespace)) {
    throw new ForgeError(ErrorCode.PERMISSION_DENIED, `this credential does not grant namespace ${namespace.slice(0, 128)}`, {
      metadata: { field: "forge-namespace" },
    });
  }
  return namespace;
}

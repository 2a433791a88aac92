import { randomBytes } from "node:crypto";
import type { StoredPrincipal } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { newNamespace, newStreamId } from "../builders.ts";
import type { Suite } from "./suite.ts";

function aPrincipal(principal: Partial<StoredPrincipal> = {}): StoredPrincipal {
  return { id: `token-${newStreamId()}`, role: "viewer", namespaces: ["default", "team"], queues: [], ...principal };
}

export function describePrincipals(suite: Suite): void {
  describe("principals", () => {
    it("finds a principal by its token's hash only, and by its latest", async () => {
      const { store, pool } = suite;
      const [first, second] = [randomBytes(32), randomBytes(32)];
      const principal = aPrincipal({ role: "worker", queues: ["gpu"], expiresAtMs: Date.now() + 60_000 });
      await store.savePrincipal(principal, first);
      expect(await store.findPrincipal(first)).toEqual(principal);
      const { expiresAtMs: _, ...replaced } = { ...principal, queues: [] };
      await store.savePrincipal(replaced, second);
      expect(await store.findPrincipal(first)).toBeUndefined();
      expect(await store.findPrincipal(second)).toEqual(replaced);
      const { rows } = await pool.query<{ token_hash: Buffer }>("select * from forge.principal where id = $1", [principal.id]);
      expect(rows[0]?.token_hash.equals(second)).toBe(true);
    });

    it("creates one once, however often and from wherever it is asked to, and no other in its place", async () => {
      const { store, other } = suite;
      const hash = randomBytes(32);
      const principal = aPrincipal({ expiresAtMs: Date.now() + 60_000 });
      const before = Date.now() - 1_000;
      const created = await Promise.all([store, other, store, other].map((each) => each.createPrincipal(principal, "admin", hash)));
      expect(created[0]).toEqual({ ...principal, createdBy: "admin", createdAtMs: expect.any(Number) });
      expect(created[0]?.createdAtMs).toBeGreaterThan(before);
      expect(new Set(created.map((each) => JSON.stringify(each))).size).toBe(1);
      const others: [StoredPrincipal, Uint8Array][] = [
        [{ ...principal, role: "admin" }, hash],
        [{ ...principal, namespaces: ["team", "default"] }, hash],
        [{ ...principal, queues: ["gpu"] }, hash],
        [{ ...principal, expiresAtMs: Date.now() + 90_000 }, hash],
        [principal, randomBytes(32)],
        [{ ...principal, id: `${principal.id}-2` }, hash],
      ];
      for (const [different, token] of others) expect(await store.createPrincipal(different, "admin", token)).toBeUndefined();
      expect(await store.findPrincipal(hash)).toEqual(principal);
    });

    it("gives the place of an expired one to a new one, and still finds it until then", async () => {
      const { store } = suite;
      const hash = randomBytes(32);
      const expired = aPrincipal({ expiresAtMs: Date.now() - 1 });
      await store.createPrincipal(expired, "admin", hash);
      expect(await store.findPrincipal(hash)).toEqual(expired);
      const { expiresAtMs: _, ...fresh } = expired;
      expect(await store.createPrincipal(fresh, "admin", hash)).toMatchObject({ id: expired.id });
      expect(await store.findPrincipal(hash)).toEqual(fresh);
    });

    it("lists those within the given namespaces by id, page by page, without the expired, and removes only what it would list", async () => {
      const { store } = suite;
      const [mine, theirs] = [newNamespace(), newNamespace()];
      const [a, b, c] = ["a", "b", "c"].map((letter) => aPrincipal({ id: `${letter}-${newStreamId()}`, namespaces: [mine] })) as [
        StoredPrincipal,
        StoredPrincipal,
        StoredPrincipal,
      ];
      const wider = aPrincipal({ namespaces: [mine, theirs] });
      const expired = aPrincipal({ namespaces: [mine], expiresAtMs: Date.now() - 1 });
      for (const principal of [c, a, wider, expired, b]) await store.createPrincipal(principal, "admin", randomBytes(32));
      const list = async (limit: number, afterId?: string) => (await store.listPrincipals({ namespaces: [mine], limit, afterId })).map(({ id }) => id);
      expect(await list(2)).toEqual([a.id, b.id]);
      expect(await list(2, b.id)).toEqual([c.id]);
      expect(await store.listPrincipals({ namespaces: [mine, theirs], limit: 10 })).toHaveLength(4);
      expect(await store.removePrincipal(wider.id, [mine])).toBe(false);
      expect(await store.removePrincipal(a.id, [theirs])).toBe(false);
      expect(await store.removePrincipal(a.id, [mine])).toBe(true);
      expect(await store.removePrincipal(a.id, [mine])).toBe(false);
      expect(await list(10)).toEqual([b.id, c.id]);
    });
  });
}

import { createHash } from "node:crypto";
import type { StoredRevision } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { newNamespace } from "../builders.ts";
import type { Suite } from "./suite.ts";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

function aRevision(name: string, more: Partial<StoredRevision> = {}): Omit<StoredRevision, "createdAtMs"> {
  return { revisionId: hashOf(name), parentId: "", label: "", entryCount: 3, size: 4_294_967_296, ...more };
}

export function describeRevisions(suite: Suite): void {
  describe("revisions", () => {
    it("keeps one once, also when many keep it at once, and the first as it was", async () => {
      const { store, other, pool } = suite;
      const namespace = newNamespace();
      const artifacts = [hashOf("a"), hashOf("b"), hashOf("a")];
      const labels = Array.from({ length: 10 }, (_, index) => `attempt ${index}`);
      const kept = await Promise.all(
        labels.map(async (label, index) => await (index % 2 === 0 ? store : other).saveRevision(namespace, aRevision("one", { label }), artifacts)),
      );
      expect(labels).toContain(kept[0]?.label);
      expect(kept).toEqual(kept.map(() => ({ ...aRevision("one", { label: kept[0]?.label ?? "" }), createdAtMs: kept[0]?.createdAtMs })));
      expect(await other.findRevision(namespace, hashOf("one"))).toEqual(kept[0]);
      expect(await other.findRevision(newNamespace(), hashOf("one"))).toBeUndefined();
      const { rows } = await pool.query("select sha256 from forge.revision_artifact where ns = $1 and revision_id = $2 order by 1", [namespace, hashOf("one")]);
      expect(rows.map(({ sha256 }: { sha256: string }) => sha256)).toEqual([hashOf("a"), hashOf("b")].toSorted());
    });

    it("lists newest first, page by page, and by label", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const names = Array.from({ length: 7 }, (_, index) => `revision ${index}`);
      for (const [index, name] of names.entries()) {
        await store.saveRevision(namespace, aRevision(name, { label: index % 2 === 0 ? "even" : "" }), []);
        // Two at a time of one moment, where the id decides.
        const createdAtMs = Math.floor(index / 2) * 1_000 + 7;
        await pool.query("update forge.revision set created_at = to_timestamp($1::float8 / 1000) where ns = $2 and revision_id = $3", [
          createdAtMs,
          namespace,
          hashOf(name),
        ]);
      }
      const expected = names
        .map((name, index) => ({ id: hashOf(name), moment: Math.floor(index / 2), isEven: index % 2 === 0 }))
        .toSorted((one, two) => two.moment - one.moment || (one.id < two.id ? 1 : -1));
      const listed = async (label?: string): Promise<string[]> => {
        const found: StoredRevision[] = [];
        for (;;) {
          const before = found.at(-1);
          const page = await store.listRevisions(namespace, {
            limit: 3,
            ...(label === undefined ? {} : { label }),
            ...(before === undefined ? {} : { before }),
          });
          found.push(...page);
          if (page.length < 3) return found.map(({ revisionId }) => revisionId);
        }
      };
      expect(await listed()).toEqual(expected.map(({ id }) => id));
      expect(await listed("even")).toEqual(expected.filter(({ isEven }) => isEven).map(({ id }) => id));
      expect(await listed("odd")).toEqual([]);
      expect(await store.listRevisions(newNamespace(), { limit: 3 })).toEqual([]);
    });

    it("tells which artifacts are there and how large they are, and renews the age of old ones", async () => {
      const { store, other, pool } = suite;
      const namespace = newNamespace();
      const texts = ["", "old", "x".repeat(100_000)];
      for (const text of texts) await store.putArtifact(namespace, hashOf(text), "text/plain", Buffer.from(text));
      await pool.query("update forge.artifact set stored_at = now() - interval '2 days' where ns = $1 and sha256 = $2", [namespace, hashOf("old")]);
      const asked = [...texts.map(hashOf), hashOf("missing")];
      const sizes = new Map(texts.map((text) => [hashOf(text), text.length]));
      expect(await Promise.all([store, other].map(async (each) => await each.renewArtifacts(namespace, asked)))).toEqual([sizes, sizes]);
      const { rows } = await pool.query("select 1 from forge.artifact where ns = $1 and stored_at < now() - interval '1 day'", [namespace]);
      expect(rows).toEqual([]);
      expect(await store.renewArtifacts(newNamespace(), asked)).toEqual(new Map());
      expect(await store.renewArtifacts(namespace, [])).toEqual(new Map());
    });
  });
}

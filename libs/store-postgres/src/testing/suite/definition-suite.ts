import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newNamespace } from "../builders.ts";
import type { Suite } from "./suite.ts";

const HASH = "ab".repeat(32);

export function describeDefinitions(suite: Suite): void {
  const save = (namespace: string, id: string, version: string, more: { hash?: string; referenceId?: string } = {}) =>
    suite.store.saveDefinition(
      namespace,
      { id, version, hash: more.hash ?? `${id}@${version}`, createdBy: "tester" },
      { bytes: Buffer.from(more.hash ?? `${id}@${version}`), artifacts: [HASH, HASH], referenceId: more.referenceId ?? randomUUID() },
    );

  describe("definitions", () => {
    it("keeps a version as it was first, whoever saves it again or at the same moment", async () => {
      const { store, other, pool } = suite;
      const namespace = newNamespace();
      const referenceId = randomUUID();
      const first = await save(namespace, "w", "v1", { referenceId });
      expect(first).toEqual({ id: "w", version: "v1", hash: "w@v1", createdBy: "tester", createdAtMs: expect.any(Number) });
      expect(await save(namespace, "w", "v1")).toEqual(first);
      expect(await save(namespace, "w", "v1", { hash: "another" })).toEqual(first);
      const { rows } = await pool.query("select stream_id, sha256 from forge.artifact_reference where ns = $1", [namespace]);
      expect(rows).toEqual([{ stream_id: referenceId, sha256: HASH }]);

      const racing = Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? store : other).saveDefinition(
          namespace,
          { id: "raced", version: "v1", hash: String(index), createdBy: "tester" },
          { bytes: Buffer.from(String(index)), artifacts: [], referenceId },
        ),
      );
      const hashes = new Set((await Promise.all(racing)).map((saved) => saved.hash));
      expect(hashes.size).toBe(1);
      const found = await store.findDefinition(namespace, "raced", "v1");
      expect(Buffer.from(found?.bytes ?? []).toString()).toBe([...hashes][0]);
    });

    it("finds the highest version by its numbers, in its own namespace", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      expect(await store.findDefinition(namespace, "w")).toBeUndefined();
      for (const version of ["v9", "v10", "v1.10", "v10.0.1", "v2"]) await save(namespace, "w", version);
      await save(newNamespace(), "w", "v99");
      await save(namespace, "x", "v99");
      expect((await store.findDefinition(namespace, "w"))?.version).toBe("v10.0.1");
      await save(namespace, "w", "v10.2");
      expect((await store.findDefinition(namespace, "w"))?.version).toBe("v10.2");
      expect((await store.findDefinition(namespace, "w", "v9"))?.version).toBe("v9");
      expect(await store.findDefinition(namespace, "w", "v3")).toBeUndefined();
    });

    it("lists by id and version, in pages", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      for (const name of ["b@v1", "a@v2", "a@v1", "c@v1"]) await save(namespace, name.slice(0, 1), name.slice(2));
      const names = (rows: readonly { id: string; version: string }[]) => rows.map(({ id, version }) => `${id}@${version}`);
      expect(names(await store.listDefinitions(namespace, { limit: 10 }))).toEqual(["a@v1", "a@v2", "b@v1", "c@v1"]);
      expect(names(await store.listDefinitions(namespace, { limit: 2, after: { id: "a", version: "v1" } }))).toEqual(["a@v2", "b@v1"]);
      expect(names(await store.listDefinitions(namespace, { limit: 10, id: "a" }))).toEqual(["a@v1", "a@v2"]);
      expect(await store.listDefinitions(newNamespace(), { limit: 10 })).toEqual([]);
    });
  });
}

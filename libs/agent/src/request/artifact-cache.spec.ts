import { describe, expect, it } from "vitest";
import { ArtifactCache } from "./artifact-cache.ts";

const MIB = 1024 * 1024;

function cache() {
  const loads: string[] = [];
  const kept = new ArtifactCache();
  const get = (sha256: string, size = 20 * MIB) =>
    kept.get(sha256, async (asked) => {
      loads.push(asked);
      return new Uint8Array(size);
    });
  return { loads, get };
}

describe("the cache of files", () => {
  it("loads a file once, however often it is shown", async () => {
    const { loads, get } = cache();
    expect((await get("a", 3)).length).toBe(3);
    expect((await get("a", 3)).length).toBe(3);
    expect(loads).toEqual(["a"]);
  });

  it("keeps at most 64 MiB, and lets go what was used longest ago", async () => {
    const { loads, get } = cache();
    for (const name of ["a", "b", "c", "a", "d", "a", "b"]) await get(name);
    expect(loads).toEqual(["a", "b", "c", "d", "b"]);
  });

  it("keeps nothing of what failed to load", async () => {
    const kept = new ArtifactCache();
    await expect(kept.get("a", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    expect((await kept.get("a", async () => Uint8Array.of(1))).length).toBe(1);
  });
});

import { expect, it } from "vitest";
import { Tree } from "../testing/tree.ts";
import { RepositoryIndex } from "./repository-index.ts";

const REQUEST = { message: "", paths: [], budgetTokens: 1_000 };

it("is built in the background, answers, follows changes, and is there for the next one", async () => {
  using tree = new Tree({ "a.ts": "export function first() {}\n" });
  using data = new Tree();
  const options = { root: tree.path, dataDirectory: data.path };
  {
    await using index = new RepositoryIndex(options);
    expect(index.status.state).toBe("scanning");
    expect(await index.update()).toMatchObject({ state: "ready", sources: 1, parsed: 1 });
    expect((await index.map(REQUEST)).text).toContain("first");
    tree.write({ "b.ts": "export function second() {}\n" });
    await Promise.all([index.update(), index.update(), index.update()]);
    expect((await index.map(REQUEST)).text).toContain("second");
  }
  await using index = new RepositoryIndex(options);
  await index.update();
  expect((await index.map(REQUEST)).text).toContain("second");
});

it("does not keep the one that opens it waiting, and can be ended at any moment", async () => {
  using tree = new Tree(Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`d${n % 50}/f${n}.ts`, `export function fn${n}() {}\n`.repeat(20)])));
  using data = new Tree();
  const started = performance.now();
  const index = new RepositoryIndex({ root: tree.path, dataDirectory: data.path });
  expect(performance.now() - started).toBeLessThan(500);
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  // A map of what is known by then is drawn while it is being built.
  while (index.status.parsed === 0) await new Promise((resolve) => setImmediate(resolve));
  const map = await index.map(REQUEST);
  expect(map.definitions + map.leftOut).toBeGreaterThan(0);
  clearInterval(timer);
  expect(longest).toBeLessThan(1_000);
  const asked = index.map(REQUEST).catch((error: unknown) => error);
  await index[Symbol.asyncDispose]();
  expect(await asked).toMatchObject({ reason: "INDEX_UNAVAILABLE" });
  await expect(index.update()).rejects.toMatchObject({ reason: "INDEX_UNAVAILABLE" });
  expect(index.status.state).toBe("failed");
  await using next = new RepositoryIndex({ root: tree.path, dataDirectory: data.path });
  expect(await next.update()).toMatchObject({ state: "ready", sources: 3_000 });
}, 60_000);

it("fails where there is no workspace, and does not take the process with it", async () => {
  using data = new Tree();
  await using index = new RepositoryIndex({ root: data.at("gone"), dataDirectory: data.path });
  await expect(index.update()).rejects.toMatchObject({ reason: "INDEX_UNAVAILABLE", message: expect.stringContaining("can't be opened") });
  expect(index.status.state).toBe("failed");
});

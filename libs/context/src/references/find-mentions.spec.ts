import { expect, it } from "vitest";
import { findMentions } from "./find-mentions.ts";

/** The longest candidate of each mention. */
function named(text: string) {
  return findMentions(text).map(({ candidates }) => candidates[0]);
}

it.each([
  ["look at @src/a.ts", [{ path: "src/a.ts" }]],
  ["(@src/a.ts) and [@b.md]", [{ path: "src/a.ts" }, { path: "b.md" }]],
  ["@src/a.ts:10-40 is", [{ path: "src/a.ts", lines: { start: 10, end: 40 } }]],
  ["@src/a.ts:10", [{ path: "src/a.ts", lines: { start: 10, end: 10 } }]],
  ["@src/a.ts#L10-L40", [{ path: "src/a.ts", lines: { start: 10, end: 40 } }]],
  ['@"name with space.txt":3-4!', [{ path: "name with space.txt", lines: { start: 3, end: 4 } }]],
  ["mail me@example.com, a.b@c.d/e.ts, x_@y.md", []],
  ["`@src/a.ts` and ``x ` @b.md``", []],
  ["```ts\n@Injectable()\n@src/a.ts\n```\n@b.md", [{ path: "b.md" }]],
  ["~~~\n```\n@a.md\n~~~\n@b.md", [{ path: "b.md" }]],
  ["@größe/ä.md", [{ path: "größe/ä.md" }]],
  ["npm i pkg@1.2.3 https://x/@user", []],
])("finds the mentions of %j", (text, expected) => {
  expect(named(text)).toEqual(expected);
});

it("tries a name with and without the punctuation at its end", () => {
  expect(findMentions("is it @src/a.ts:10-40?")[0]?.candidates).toEqual([
    { path: "src/a.ts:10-40?" },
    { path: "src/a.ts", lines: { start: 10, end: 40 } },
    { path: "src/a.ts:10-40" },
  ]);
  expect(findMentions("it is @README.md.")[0]?.candidates.map(({ path }) => path)).toEqual(["README.md.", "README.md"]);
});

it("knows a call, and is bounded", () => {
  expect(findMentions("@app.route('/')")[0]?.isCall).toBe(true);
  expect(findMentions("@a ".repeat(5_000))).toHaveLength(200);
  const started = performance.now();
  findMentions("@".repeat(200_000));
  findMentions("`".repeat(200_000));
  findMentions(`@${".".repeat(200_000)}`);
  expect(performance.now() - started).toBeLessThan(5_000);
});

import { expect, it } from "vitest";
import { moduleUrls } from "./module-urls.ts";

it("finds the files that a module names relative to itself, in their order", () => {
  const text = 'const a = new URL("./migrations/", import.meta.url);\nrun(fileURLToPath(new URL("./child.ts", import.meta.url)));';
  expect(moduleUrls("a.ts", text).map(({ path, start, end }) => [path, text.slice(start, end)])).toEqual([
    ["./migrations/", '"./migrations/"'],
    ["./child.ts", '"./child.ts"'],
  ]);
});

it("passes over other addresses", () => {
  expect(moduleUrls("a.ts", 'new URL("./a", base); new URL("http://localhost/"); new URL("file:///a", import.meta.url);')).toEqual([]);
});

it.each([
  "join(import.meta.dirname, 'x')",
  "import.meta.filename",
  "new URL(`./x${extname(import.meta.url)}`, import.meta.url)",
  "new URL(path, import.meta.url)",
])("refuses %s, which a bundle would break", (text) => {
  expect(() => moduleUrls("a.ts", text)).toThrow('a.ts: write new URL("./path", import.meta.url) with a literal path');
});

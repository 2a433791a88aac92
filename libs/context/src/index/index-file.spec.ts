import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Tree } from "../testing/tree.ts";
import { readIndexFile, writeIndexFile } from "./index-file.ts";

const VALUE = { names: ["a", "ä"], numbers: Uint32Array.of(1, 2 ** 31), nested: new Map([["k", { n: 1.5 }]]) };

it("gives back what was written, and nothing where nothing was", () => {
  using tree = new Tree();
  const path = tree.at("x.bin");
  expect(readIndexFile(path)).toBeUndefined();
  writeIndexFile(path, 1);
  writeIndexFile(path, VALUE);
  expect(readIndexFile(path)).toEqual({ value: VALUE });
  expect(readdirSync(tree.path)).toEqual(["x.bin"]);
});

it("notices every changed byte, and every length that is another", () => {
  using tree = new Tree();
  const path = tree.at("x.bin");
  writeIndexFile(path, VALUE);
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at++) {
    const changed = Buffer.from(whole);
    changed[at] = (whole[at] as number) ^ 1;
    writeFileSync(path, changed);
    expect(readIndexFile(path), `byte ${at}`).toBe("damaged");
    writeFileSync(path, whole.subarray(0, at));
    expect(readIndexFile(path), `the first ${at} bytes`).toBe("damaged");
  }
});

it("leaves what stands where it can't write, and nothing half", () => {
  using tree = new Tree();
  const path = tree.at("x.bin");
  writeIndexFile(path, VALUE);
  expect(() => writeIndexFile(path, () => 1)).toThrow("could not be cloned");
  expect(() => writeIndexFile(tree.at("no/such/place.bin"), 1)).toThrow("ENOENT");
  expect(readIndexFile(path)).toEqual({ value: VALUE });
  expect(readdirSync(tree.path)).toEqual(["x.bin"]);
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ForgeError } from "@forge/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readModelsFile } from "./read-models-file.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "forge-models-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

function read(text: string) {
  const path = join(directory, "models.json");
  writeFileSync(path, text);
  return readModelsFile(path);
}

describe("a file of models", () => {
  it("is JSON or YAML, and may say as little of a model as it likes", () => {
    const models = { "openai/mine*": { context_window_tokens: 8192, inputs: ["image"], price: { input: 1, cached_input: 0, output: 2 } } };
    expect(read(JSON.stringify({ models }))).toEqual(models);
    expect(read("models:\n  ollama/llama3.2: { context_window_tokens: 4096, structured_output: never, reasoning: low }\n")).toEqual({
      "ollama/llama3.2": { context_window_tokens: 4096, structured_output: "never", reasoning: "low" },
    });
  });

  it.each([
    ['{\n  "models": {\n', /models\.json:\d+: /],
    ["[]", /:1: `models` must be a map/],
    ["models:\n  gpt-5: {}\n", /:2: "gpt-5" names no model/],
    ["models:\n  a/b:\n    context_window_tokens: many\n", /:3: a\/b: context_window_tokens must be a whole number/],
    ["models:\n  a/b:\n    context_window: 5\n", /:3: a\/b: context_window is no field/],
    ["models:\n  a/b:\n    price:\n      input: -1\n", /:4: a\/b: price\.input must be/],
    ["models:\n  a/b:\n    price: { input: 1, output: 1 }\n", /:3: a\/b: price\.cached_input is missing/],
    ["models:\n  a/b:\n    inputs: [smell]\n", /:3: a\/b: inputs must be a list of image/],
    ["models:\n  a/b: 5\n", /:2: a\/b must be a map/],
    ["models:\n  a/b: {}\n  a/b: {}\n", /:3: .*unique/i],
  ])("is refused with its place: %j", (text, expected) => {
    expect(() => read(text)).toThrow(expected);
    expect(() => read(text)).toThrow(ForgeError);
  });

  it("is named where it can't be read", () => {
    expect(() => readModelsFile(join(directory, "none.json"))).toThrow(/none\.json can't be read/);
  });
});

import { readFileSync } from "node:fs";
import { ForgeError } from "@forge/protocol";
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { INPUT_KINDS, type ModelTable, REASONING_LEVELS, STRUCTURED_OUTPUT } from "./model-table.ts";

/** Far more than anybody's models need. */
const FILE_BYTES_MAX = 1024 * 1024;

const MODEL_NAME = /^[\w.-]{1,64}\/.{1,255}$/;

/** Returns what is wrong with a value, as the end of a sentence that begins with its name, or undefined. */
type Check = (value: unknown) => string | undefined;

const wholeNumber: Check = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value < 2 ** 32 ? undefined : "must be a whole number from 1 to 4294967295";
const micro: Check = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? undefined : "must be a whole number of micro-USD per million tokens, 0 or more";
const oneOf =
  (names: readonly string[]): Check =>
  (value) =>
    names.some((name) => name === value) ? undefined : `must be one of ${names.join(", ")}`;
const listOf =
  (names: readonly string[]): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => names.includes(item)) ? undefined : `must be a list of ${names.join(", ")}`;

const PRICE_FIELDS: Readonly<Record<string, Check>> = { input: micro, cached_input: micro, cache_write: micro, output: micro };
const REQUIRED_PRICE_FIELDS = ["input", "cached_input", "output"];
const MODEL_FIELDS: Readonly<Record<string, Check>> = {
  context_window_tokens: wholeNumber,
  max_output_tokens: wholeNumber,
  inputs: listOf(INPUT_KINDS),
  structured_output: oneOf(STRUCTURED_OUTPUT),
  reasoning: oneOf(REASONING_LEVELS),
};

/** Reads one file's text and tells what is wrong by line. */
class ModelsFile {
  readonly #path: string;
  readonly #lines = new LineCounter();

  constructor(path: string) {
    this.#path = path;
  }

  read(text: string): ModelTable {
    const document = parseDocument(text, { lineCounter: this.#lines, uniqueKeys: true, maxAliasCount: 0 } as Parameters<typeof parseDocument>[1]);
    const [error] = document.errors;
    if (error) throw this.#problem(error.message.split("\n")[0] ?? "it can't be read", error.linePos?.[0].line ?? 1);
    const root = document.contents;
    const models = isMap(root) ? root.get("models", true) : undefined;
    if (!isMap(models)) throw this.#problem("`models` must be a map from provider/model to what is known of it", this.#lineOf(root));
    for (const { key, value } of models.items) this.#checkModel(key, value);
    return (document.toJS() as { models: ModelTable }).models;
  }

  #checkModel(key: unknown, value: unknown): void {
    const name = isScalar(key) ? String(key.value) : "";
    if (!MODEL_NAME.test(name)) throw this.#problem(`"${name}" names no model: write provider/model, or a beginning of it followed by *`, this.#lineOf(key));
    this.#checkFields(name, key, value, (field, node) => {
      if (field !== "price") return this.#checkValue(`${name}: ${field}`, MODEL_FIELDS[field], node, key);
      this.#checkFields(`${name}: price`, node, node, (part, price) => this.#checkValue(`${name}: price.${part}`, PRICE_FIELDS[part], price, node));
      const missing = REQUIRED_PRICE_FIELDS.find((part) => !(isMap(node) && node.has(part)));
      if (missing) throw this.#problem(`${name}: price.${missing} is missing`, this.#lineOf(node));
    });
  }

  #checkFields(name: string, place: unknown, value: unknown, check: (field: string, node: unknown) => void): void {
    if (!isMap(value)) throw this.#problem(`${name} must be a map`, this.#lineOf(value ?? place));
    for (const item of value.items) check(isScalar(item.key) ? String(item.key.value) : "", item.value);
  }

  #checkValue(name: string, check: Check | undefined, node: unknown, place: unknown): void {
    const line = this.#lineOf(isNode(node) ? node : place);
    if (!check) throw this.#problem(`${name} is no field that Forge knows`, line);
    const problem = check(isNode(node) ? node.toJSON() : node);
    if (problem) throw this.#problem(`${name} ${problem}`, line);
  }

  #lineOf(node: unknown): number {
    const range = isNode(node) ? (node as Node).range : undefined;
    return range ? this.#lines.linePos(range[0]).line : 1;
  }

  #problem(message: string, line: number): ForgeError {
    return ForgeError.validation("models", `${this.#path}:${line}: ${message}.`, {
      reason: "CONFIG_VALIDATION",
      origin: "worker",
      metadata: { line: String(line) },
    });
  }
}

/** What a file of models (JSON or YAML, `models:` as in the table that comes with Forge) says. Throws validation with the file and line. */
export function readModelsFile(path: string): ModelTable {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw ForgeError.validation("models", `The file of models ${path} can't be read: ${cause instanceof Error ? cause.message : String(cause)}.`, {
      reason: "CONFIG_VALIDATION",
      origin: "worker",
      cause,
    });
  }
  if (bytes.length > FILE_BYTES_MAX)
    throw ForgeError.validation("models", `The file of models ${path} holds more than ${FILE_BYTES_MAX} bytes.`, {
      reason: "CONFIG_VALIDATION",
      origin: "worker",
    });
  return new ModelsFile(path).read(bytes.toString("utf8"));
}

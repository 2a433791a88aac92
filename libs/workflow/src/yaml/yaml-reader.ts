import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isAlias, isMap, isScalar, isSeq, type Node, Scalar } from "yaml";
import { clip, Problems } from "./problems.ts";
import { startOf, YamlSource } from "./yaml-source.ts";

/** Nodes read from one file, those repeated through aliases counted again: aliases can't expand a small file into a large one. */
const NODES_MAX = 1_000_000;

/** How deep lists and mappings may be nested. */
const DEPTH_MAX = 64;

const CORE_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/;

/** A key of a mapping with its value; `offset` is the key's. */
export interface YamlEntry {
  readonly key: string;
  readonly offset: number;
  readonly value: Node;
}

/** A text with the scalar that it was written as. */
export interface YamlText {
  readonly text: string;
  readonly offset: number;
  readonly node: Scalar;
}

/**
 * Reads the nodes of one file as what is expected of them. What is something else becomes a problem, and the answer is undefined, so that reading goes on and
 * finds the next one.
 */
export class YamlReader {
  readonly source: YamlSource;
  readonly problems: Problems;
  #visited = 0;
  #isExhausted = false;

  constructor(text: string, file: string, reason: string) {
    this.source = new YamlSource(text, file);
    this.problems = new Problems(this.source, reason);
    for (const { offset, message } of this.source.syntaxErrors()) this.problems.add(offset, message);
  }

  /** The node itself, or what an alias stands for; null for nothing. */
  resolve(node: Node | null): Node | null {
    if (++this.#visited > NODES_MAX) {
      if (!this.#isExhausted) this.problems.add(startOf(node), `more than ${NODES_MAX} values; aliases repeat too much`);
      this.#isExhausted = true;
      return null;
    }
    if (isAlias(node)) {
      const target = this.source.anchored(node);
      if (target === undefined) this.problems.addUnknown(startOf(node), "alias", node.source, []);
      return target ?? null;
    }
    if (node !== null && "tag" in node && node.tag !== undefined && !CORE_TAG.test(node.tag)) {
      this.problems.add(startOf(node), `the tag ${clip(node.tag)} is not allowed; expected a plain value`);
      return null;
    }
    return node;
  }

  /** A mapping's entries; every key is a text and stands once. */
  mapping(node: Node | null, what: string): Map<string, YamlEntry> | undefined {
    const map = this.resolve(node);
    if (!isMap(map)) {
      this.#unexpected(node, map, what, "a mapping");
      return undefined;
    }
    const entries = new Map<string, YamlEntry>();
    for (const { key, value } of map.items) {
      const name = isScalar(key) && typeof key.value === "string" ? key.value : undefined;
      const offset = startOf(key as Node | null);
      if (name === undefined) this.problems.add(offset, `a key of ${what} that is no text; put it in quotes`);
      else if (entries.has(name)) this.problems.add(offset, `duplicate key \`${clip(name)}\` in ${what}`);
      else if (name === "<<") this.problems.addUnsupported(offset, "merge keys (`<<`) are not supported; write the keys out");
      else if (this.#isText(name, offset, what)) entries.set(name, { key: name, offset, value: (value as Node | null) ?? nothingAt(offset) });
    }
    return entries;
  }

  /** Refuses keys that are none of those known; `later` are known and not built yet. */
  checkKeys(entries: ReadonlyMap<string, YamlEntry>, what: string, known: readonly string[], later: readonly string[] = []): void {
    for (const { key, offset } of entries.values()) {
      if (known.includes(key)) continue;
      if (later.includes(key)) this.problems.addUnsupported(offset, `\`${key}\` in ${what} is not supported yet`);
      else this.problems.addUnknown(offset, `key in ${what}`, key, known);
    }
  }

  list(node: Node | null, what: string): Node[] | undefined {
    const list = this.resolve(node);
    if (isSeq(list)) return list.items.map((item) => (item as Node | null) ?? nothingAt(startOf(list)));
    this.#unexpected(node, list, what, "a list");
    return undefined;
  }

  /** A text of at most `lengthMax` UTF-16 units. */
  text(node: Node | null, what: string, lengthMax: number): YamlText | undefined {
    const scalar = this.resolve(node);
    if (!isScalar(scalar) || typeof scalar.value !== "string") {
      this.#unexpected(node, scalar, what, "a text");
      return undefined;
    }
    const offset = startOf(node);
    if (!this.#isText(scalar.value, offset, what)) return undefined;
    if (scalar.value.length > lengthMax) {
      this.problems.add(offset, `${what} has ${scalar.value.length} characters; at most ${lengthMax} are allowed`);
      return undefined;
    }
    return { text: scalar.value, offset, node: scalar };
  }

  /** One of a few words. */
  choice<const T extends string>(node: Node | null, what: string, choices: readonly T[]): T | undefined {
    const found = this.text(node, what, 1024);
    if (found === undefined) return undefined;
    const choice = choices.find((candidate) => candidate === found.text);
    if (choice === undefined) this.problems.addUnknown(found.offset, what, found.text, choices);
    return choice;
  }

  boolean(node: Node | null, what: string): boolean | undefined {
    const scalar = this.resolve(node);
    if (isScalar(scalar) && typeof scalar.value === "boolean") return scalar.value;
    this.#unexpected(node, scalar, what, "true or false");
    return undefined;
  }

  /** A number between two bounds, both included. */
  number(node: Node | null, what: string, min: number, max: number, isWhole = false): number | undefined {
    const scalar = this.resolve(node);
    const value = isScalar(scalar) ? scalar.value : undefined;
    const expected = `a ${isWhole ? "whole " : ""}number from ${min} to ${max}`;
    if (typeof value === "number" && value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
    if (typeof value === "number") this.problems.add(startOf(node), `${what} is ${value}; expected ${expected}`);
    else this.#unexpected(node, scalar, what, expected);
    return undefined;
  }

  /** Any value, as JSON; undefined where it holds what JSON can't. */
  json(node: Node | null, what: string, depth = 0): JsonValue | undefined {
    const value = this.resolve(node);
    if (value === null) return null;
    if (depth > DEPTH_MAX) {
      this.problems.add(startOf(node), `${what} is nested deeper than ${DEPTH_MAX}`);
      return undefined;
    }
    if (isScalar(value)) return this.#jsonScalar(value, startOf(node), what);
    if (isSeq(value)) {
      const items = value.items.map((item) => this.json(item as Node | null, what, depth + 1));
      return items.some((item) => item === undefined) ? undefined : (items as JsonValue[]);
    }
    const entries = this.mapping(value, what);
    if (entries === undefined) return undefined;
    const object: JsonObject = {};
    for (const { key, offset, value: child } of entries.values()) {
      if (key === "__proto__") this.problems.add(offset, `the key \`__proto__\` in ${what} is not allowed`);
      else object[key] = this.json(child, what, depth + 1) ?? null;
    }
    return object;
  }

  #jsonScalar(scalar: Scalar, offset: number, what: string): JsonValue | undefined {
    const { value, source } = scalar;
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "string") return this.#isText(value, offset, what) ? value : undefined;
    const isExact =
      typeof value === "number" && Number.isFinite(value) && (Number.isSafeInteger(value) || !/^[-+]?(?:\d+|0x[\da-f]+|0o[0-7]+)$/i.test(source ?? ""));
    if (isExact) return value;
    this.problems.add(offset, `${what} has a number that JSON can't hold exactly; put it in quotes`);
    return undefined;
  }

  #isText(text: string, offset: number, what: string): boolean {
    if (text.isWellFormed() && !text.includes("\0")) return true;
    this.problems.add(offset, `${what} holds a NUL or half a surrogate pair, which can't be stored`);
    return false;
  }

  #unexpected(written: Node | null, node: Node | null, what: string, expected: string): void {
    if (this.#isExhausted) return;
    const found =
      node === null || (isScalar(node) && node.value === null) ? "nothing" : isMap(node) ? "a mapping" : isSeq(node) ? "a list" : scalarName(node as Scalar);
    const hint = expected === "a text" && isScalar(node) && node.value !== null ? "; put it in quotes" : "";
    this.problems.add(startOf(written), `${what} is ${found}; expected ${expected}${hint}`);
  }
}

/** A value that was left out, for errors to point at. */
function nothingAt(offset: number): Node {
  const nothing = new Scalar(null);
  nothing.range = [offset, offset, offset];
  return nothing;
}

function scalarName(node: Scalar): string {
  return typeof node.value === "string" ? `the text \`${clip(node.value)}\`` : `the ${typeof node.value} ${clip(String(node.value))}`;
}

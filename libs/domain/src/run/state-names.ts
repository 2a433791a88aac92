import type { Value } from "@forge/protocol/common";
import type { Context } from "../decider.ts";
import { canonicalJson } from "./canonical-json.ts";
import { itemAt } from "./chunks.ts";
import { artifactOf, parseJson } from "./json.ts";
import { valuesOf } from "./outputs.ts";
import { runtimeOf } from "./scope.ts";
import { type RunState, stepAt } from "./state.ts";

const HASH_BYTES = 32;

/**
 * A name for a run's state that costs no more than what has changed: the exclusive or of the hashes of its entries, so that one entry is taken out and another
 * put in without a look at the rest. Two states with the same entries have the same name, in whatever order they came to be.
 */
export class StateNames {
  readonly #context: Pick<Context, "sha256">;
  readonly #total = new Uint8Array(HASH_BYTES);
  readonly #entries = new Map<string, Uint8Array>();

  constructor(context: Pick<Context, "sha256">) {
    this.#context = context;
  }

  /** Takes all of a state, once it is there. */
  whole(state: RunState): void {
    this.#set("inputs", state.inputs === undefined ? undefined : textOf([state.inputs]));
    this.#set("runtime", canonicalJson(runtimeOf(state)));
    for (let position = 0; position < state.steps.length; position++) this.step(state, position);
  }

  /** Takes what has become of one step. */
  step(state: RunState, position: number): void {
    const memory = itemAt(state.steps, position);
    if (memory === undefined) return;
    const has = memory.outcome === "completed" && (memory.output !== undefined || memory.items !== undefined);
    this.#set(`steps.${stepAt(state, position).id}`, has ? `${memory.items === undefined ? "" : "items"}${textOf(valuesOf(memory))}` : undefined);
  }

  hash(): string {
    return hexOf(this.#total);
  }

  #set(path: string, text: string | undefined): void {
    const before = this.#entries.get(path);
    if (before !== undefined) this.#mix(before);
    this.#entries.delete(path);
    if (text === undefined) return;
    const bytes = bytesOf(this.#context.sha256(`${path}\n${text}`));
    this.#entries.set(path, bytes);
    this.#mix(bytes);
  }

  #mix(bytes: Uint8Array): void {
    for (let index = 0; index < HASH_BYTES; index++) this.#total[index] = (this.#total[index] as number) ^ (bytes[index] as number);
  }
}

function textOf(values: readonly (Value | undefined)[]): string {
  return values.map(valueText).join("\n");
}

function valueText(value: Value | undefined): string {
  const artifact = artifactOf(value);
  if (artifact !== undefined) return `artifact:${artifact}`;
  if (value?.kind.case !== "json") return "null";
  const parsed = parseJson(value.kind.value);
  return parsed.ok ? canonicalJson(parsed.value) : value.kind.value;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: HASH_BYTES }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

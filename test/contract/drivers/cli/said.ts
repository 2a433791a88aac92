import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A request as JSON, from which its parts are taken one by one: what is left at the end could not be said. */
export class Said {
  readonly #json: JsonObject;
  readonly #parts: Said[] = [];

  constructor(json: JsonObject) {
    this.#json = structuredClone(json);
  }

  /** Takes a text; empty where there is none. */
  text(...path: readonly string[]): string {
    const value = this.#take(path);
    return value === undefined ? "" : plain(value);
  }

  /** Takes a text as an option; none where there is none. */
  option(flag: string, ...path: readonly string[]): string[] {
    const value = this.#take(path);
    return value === undefined ? [] : [`${flag}=${plain(value)}`];
  }

  list(...path: readonly string[]): string[] {
    return ((this.#take(path) ?? []) as JsonValue[]).map(plain);
  }

  entries(...path: readonly string[]): [string, string][] {
    return Object.entries((this.#take(path) ?? {}) as JsonObject).map(([key, value]) => [key, plain(value)]);
  }

  objects(...path: readonly string[]): Said[] {
    const parts = ((this.#take(path) ?? []) as JsonObject[]).map((part) => new Said(part));
    this.#parts.push(...parts);
    return parts;
  }

  /** The one part of a message, which has to be text. */
  onlyText(name: string): string {
    const [part, ...others] = this.objects(name);
    if (part === undefined || others.length > 0) throw new Error(`the command line says one text, not ${others.length + 1} parts`);
    return part.text("text", "text");
  }

  expect(value: string, ...path: readonly string[]): void {
    const found = this.text(...path);
    if (found !== value) throw new Error(`the command line can't say ${found} for ${path.join(".")}`);
  }

  /** Errors: something is left. */
  end(): void {
    for (const part of this.#parts) part.end();
    const left = leaves(this.#json);
    if (left.length > 0) throw new Error(`the command line can't say ${left.join(", ")}`);
  }

  #take(path: readonly string[]): JsonValue | undefined {
    const parents = path.slice(0, -1);
    let object: JsonObject | undefined = this.#json;
    for (const name of parents) object = object?.[name] as JsonObject | undefined;
    const last = path.at(-1) as string;
    const value = object?.[last];
    if (object !== undefined) delete object[last];
    return value;
  }
}

/** Errors: a value that is made of others. */
function plain(value: JsonValue): string {
  if (typeof value === "object") throw new Error("the command line can't say a value that is made of others");
  return String(value);
}

/** The paths of values that are no objects. */
function leaves(json: JsonValue, path = ""): string[] {
  if (json === null || typeof json !== "object" || Array.isArray(json)) return [path];
  return Object.entries(json).flatMap(([name, value]) => leaves(value, path === "" ? name : `${path}.${name}`));
}

import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { type ArtifactRef, ErrorCode, type TaskLease, type Value, ValueSchema } from "@forge/protocol/common";
import { persist } from "./persist.ts";
import type { ControlPlanePort } from "./port.ts";

/** A value up to here travels inline. */
const INLINE_MAX = 64 * 1024;

/** How long something is still tried to be kept for a task that was told to stop. */
const LAST_PUT_MS = 10_000;

/** Reads and writes the payloads of one task. */
export class Payloads {
  readonly #port: ControlPlanePort;
  readonly #lease: TaskLease;
  readonly #signal: AbortSignal;
  readonly #lost: AbortSignal;

  /** `signal`: the task is to stop; `lost`: it is another worker's. */
  constructor(port: ControlPlanePort, lease: TaskLease, signal: AbortSignal, lost: AbortSignal = signal) {
    this.#port = port;
    this.#lease = lease;
    this.#signal = signal;
    this.#lost = lost;
  }

  /** Also of a task that was told to stop: what it has changed by then is to be told. */
  async put(content: Uint8Array, mediaType: string): Promise<ArtifactRef> {
    const signal = this.#signal.aborted ? AbortSignal.any([this.#lost, AbortSignal.timeout(LAST_PUT_MS)]) : this.#lost;
    const { artifact } = await persist(() => this.#port.artifact.putArtifact({ content, mediaType, lease: this.#lease }, { signal }), signal);
    if (artifact === undefined) throw new ForgeError(ErrorCode.INTERNAL, "the artifact store answered without a reference");
    return artifact;
  }

  async get(sha256: string): Promise<Uint8Array> {
    const signal = this.#signal;
    return await persist(async () => {
      const pieces: Uint8Array[] = [];
      for await (const { content } of this.#port.artifact.getArtifact({ sha256, lease: this.#lease }, { signal })) pieces.push(content);
      return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
    }, signal);
  }

  async toValue(json: string): Promise<Value> {
    // A character has at most three bytes in UTF-8 for each of its UTF-16 code units.
    if (json.length <= INLINE_MAX / 3 || Buffer.byteLength(json) <= INLINE_MAX) return create(ValueSchema, { kind: { case: "json", value: json } });
    return create(ValueSchema, { kind: { case: "artifact", value: await this.put(new TextEncoder().encode(json), "application/json") } });
  }

  async fromValue(value: Value): Promise<string> {
    switch (value.kind.case) {
      case "json":
        return value.kind.value;
      case "artifact": {
        const text = new TextDecoder().decode(await this.get(value.kind.value.sha256));
        return value.path.length === 0 ? text : JSON.stringify(within(JSON.parse(text), value.path));
      }
      case undefined:
        throw ForgeError.validation("value", "a value is either JSON text or an artifact");
    }
  }
}

/** The value at a path of keys and indexes; only what the value itself has is followed. */
function within(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    const has = typeof found === "object" && found !== null && Object.hasOwn(found, key) && (!Array.isArray(found) || /^\d+$/.test(key));
    if (!has) throw ForgeError.validation("value.path", `the artifact has no ${path.join(".")}`);
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

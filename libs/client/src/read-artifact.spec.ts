import { createHash } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { type GetArtifactRequestSchema, type GetArtifactResponse, GetArtifactResponseSchema } from "@forge/protocol/artifact";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import type { ForgeClient } from "./forge-client.ts";
import { type ReadArtifactOptions, readArtifact } from "./read-artifact.ts";

const CONTENT = Uint8Array.from({ length: 10 }, (_, index) => index);
const SHA256 = createHash("sha256").update(CONTENT).digest("hex");
const lost = () => new ForgeError(ErrorCode.STORAGE_ERROR, "connection reset", { reason: "TRANSPORT" });

/** A server of the artifact, in pieces of 3 bytes; each call ends after so many pieces, with the error or without. */
function serving(ends: { readonly pieces: number; readonly error?: ForgeError }[], content: Uint8Array = CONTENT) {
  const asked: (readonly [offset: number, length: number | undefined])[] = [];
  async function* getArtifact({ offset = 0n, length }: MessageInitShape<typeof GetArtifactRequestSchema>): AsyncGenerator<GetArtifactResponse> {
    asked.push([Number(offset), length === undefined ? undefined : Number(length)]);
    const { pieces, error } = ends.shift() ?? { pieces: Number.POSITIVE_INFINITY };
    const end = length === undefined ? content.length : Math.min(content.length, Number(offset + length));
    for (let piece = 0, at = Number(offset); piece < pieces && (piece === 0 || at < end); piece++, at += 3) {
      const artifact = piece === 0 ? { sha256: SHA256, size: BigInt(content.length) } : undefined;
      yield create(GetArtifactResponseSchema, { artifact, content: content.subarray(at, Math.min(at + 3, end)) });
    }
    if (error !== undefined) throw error;
  }
  return { client: { artifact: { getArtifact } } as unknown as ForgeClient, asked };
}

async function read(client: ForgeClient, options: ReadArtifactOptions = {}): Promise<number[]> {
  const bytes: number[] = [];
  for await (const piece of readArtifact(client, SHA256, options)) bytes.push(...piece);
  return bytes;
}

describe("reading an artifact", () => {
  it("gives all of it, or a range", async () => {
    const { client, asked } = serving([]);
    expect(await read(client)).toEqual([...CONTENT]);
    expect(await read(client, { offset: 4 })).toEqual([4, 5, 6, 7, 8, 9]);
    expect(await read(client, { offset: 4, length: 5 })).toEqual([4, 5, 6, 7, 8]);
    expect(await read(client, { offset: 8, length: 50 })).toEqual([8, 9]);
    expect(await read(client, { offset: 10 })).toEqual([]);
    expect(asked).toEqual([
      [0, undefined],
      [4, undefined],
      [4, 5],
      [8, 50],
      [10, undefined],
    ]);
  });

  it("goes on with the next byte when the connection was lost, also where that looks like the end", async () => {
    const whole = serving([{ pieces: 2, error: lost() }, { pieces: 0, error: lost() }, { pieces: 1 }]);
    expect(await read(whole.client)).toEqual([...CONTENT]);
    expect(whole.asked).toEqual([
      [0, undefined],
      [6, 4],
      [6, 4],
      [9, 1],
    ]);
    const range = serving([{ pieces: 1, error: lost() }]);
    expect(await read(range.client, { offset: 1, length: 7 })).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(range.asked).toEqual([
      [1, 7],
      [4, 4],
    ]);
    const late = serving([{ pieces: 4, error: lost() }]);
    expect(await read(late.client)).toEqual([...CONTENT]);
    expect(late.asked).toHaveLength(1);
  });

  it("says so when the whole does not match its hash, and asks no second time", async () => {
    const changed = serving([], CONTENT.with(5, 99));
    await expect(read(changed.client)).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "ARTIFACT_DAMAGED", detail: { retryable: false } });
    expect(changed.asked).toHaveLength(1);
    const damaged = new ForgeError(ErrorCode.STORAGE_ERROR, "damaged", { reason: "ARTIFACT_DAMAGED", retryable: false });
    const { client, asked } = serving([{ pieces: 0, error: damaged }]);
    await expect(read(client)).rejects.toBe(damaged);
    expect(asked).toHaveLength(1);
  });

  it("passes on what trying again can't mend, gives up after its patience, and stops at its signal", async () => {
    const missing = new ForgeError(ErrorCode.NOT_FOUND, "no such artifact");
    await expect(read(serving([{ pieces: 0, error: missing }]).client)).rejects.toBe(missing);
    const ends = Array.from({ length: 100 }, () => ({ pieces: 0, error: lost() }));
    await expect(read(serving(ends).client, { patienceMs: 1 })).rejects.toMatchObject({ reason: "TRANSPORT" });
    await expect(read(serving(ends).client, { signal: AbortSignal.abort() })).rejects.toMatchObject({ reason: "TRANSPORT" });
    await expect(read(serving([]).client, { offset: -1 })).rejects.toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field: "offset" } } });
    await expect(read(serving([]).client, { length: 1.5 })).rejects.toMatchObject({ detail: { metadata: { field: "length" } } });
  });
});

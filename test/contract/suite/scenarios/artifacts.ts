import { createHash } from "node:crypto";
import { ArtifactService } from "@forge/protocol/artifact";
import { ErrorCode } from "@forge/protocol/common";
import { expect } from "vitest";
import type { Scenario } from "../scenario.ts";
import { accepted, refused } from "../steps/outcomes.ts";
import { wholeOf } from "../steps/streams.ts";

const { getArtifact, putArtifact } = ArtifactService.method;

const METHODS = [putArtifact, getArtifact];
const BYTES = 700_000;

/** Bytes that no other case puts, in no text's encoding. */
function bytesOf(seed: string): Uint8Array {
  const block = createHash("sha256").update(seed).digest();
  return Uint8Array.from({ length: BYTES }, (_, index) => (block[index % block.length] as number) ^ (index >> 8));
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Artifacts",
    name: "an artifact is named by its hash and comes back as it was put, in pieces",
    methods: METHODS,
    run: async (world) => {
      const client = await world.open();
      const content = bytesOf(world.queue);
      const sha256 = hashOf(content);
      const request = { content, mediaType: "application/octet-stream" };
      const { artifact } = await accepted(client.call(putArtifact, request));
      expect(artifact).toMatchObject({ sha256, size: BigInt(BYTES), mediaType: request.mediaType });
      expect((await accepted(client.call(putArtifact, { ...request, sha256 }))).artifact).toEqual(artifact);
      const { messages, error } = await wholeOf(client.open(getArtifact, { sha256 }));
      expect(error).toBeUndefined();
      expect(messages[0]?.artifact).toEqual(artifact);
      expect(messages.length).toBeGreaterThan(1);
      expect(hashOf(Buffer.concat(messages.map((message) => message.content)))).toBe(sha256);
    },
  },
  {
    group: "Artifacts",
    name: "an artifact whose hash is another is refused, and one that is not there is not found",
    methods: METHODS,
    run: async (world) => {
      const client = await world.open();
      const content = new TextEncoder().encode(world.queue);
      const other = hashOf(new TextEncoder().encode(`not ${world.queue}`));
      expect((await refused(client.call(putArtifact, { content, mediaType: "text/plain", sha256: other }))).code).toBe(ErrorCode.VALIDATION);
      expect((await wholeOf(client.open(getArtifact, { sha256: other }))).error?.code).toBe(ErrorCode.NOT_FOUND);
      expect((await wholeOf(client.open(getArtifact, { sha256: "no hash" }))).error?.code).toBe(ErrorCode.VALIDATION);
    },
  },
];

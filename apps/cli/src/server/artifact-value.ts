import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { readArtifact } from "@forge/client";
import { type Value, ValueSchema } from "@forge/protocol/common";
import type { ProjectLink } from "./project-link.ts";

/** What stays inline in a value. */
const INLINE_BYTES_MAX = 65_536;

/** A JSON text as a value: in the artifact store where it is too large to be inline. */
export async function storeValue(link: ProjectLink, json: string): Promise<Value> {
  const content = new TextEncoder().encode(json);
  if (content.length <= INLINE_BYTES_MAX) return create(ValueSchema, { kind: { case: "json", value: json } });
  const sha256 = createHash("sha256").update(content).digest("hex");
  const { artifact } = await link.call((client) => client.artifact.putArtifact({ content, mediaType: "application/json", sha256 }));
  if (artifact === undefined) throw new Error("the artifact store answered without a reference");
  return create(ValueSchema, { kind: { case: "artifact", value: artifact } });
}

/** An artifact's text, at most so much of it as anybody reads. */
export async function readArtifactText(link: ProjectLink, sha256: string, bytesMax = 4_194_304): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readArtifact(link.client, sha256)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString("utf8");
}

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ArchivePart, StreamArchiveSchema } from "@forge/protocol/engine";
import { EventSchema } from "@forge/protocol/event";
import type { Store, StoredEvent } from "../ports/index.ts";
import { ENDED_STATUSES } from "../services/run-history.ts";
import { sha256Hex } from "../stream/identity.ts";
import { type Packed, Packer } from "./pack.ts";

const PAGE = 1_000;
/** A small run is one artifact, not two. */
const INLINE_BYTES_MAX = 1024 * 1024;

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

export type ArchiveOutcome =
  | { readonly outcome: "archived"; readonly eventCount: number; readonly byteCount: number }
  /** It was before. */
  | { readonly outcome: "already" }
  /** It has not ended, moves at this moment, or something that it asked of others is on its way. */
  | { readonly outcome: "active" }
  /** The run whose step started it goes on. */
  | { readonly outcome: "waited-for"; readonly parentRunId: string }
  | { readonly outcome: "missing" };

export type ArchivePorts = Pick<Store, "readEvents" | "putArtifact" | "listed" | "archiveStream">;

/**
 * Packs the events of an ended run into artifacts, then lets the store drop its rows. Killed before that, it leaves artifacts that nothing refers to; done again, by whomever, it makes
 * the same. Memory: one part and one page.
 */
export async function archiveRun(store: ArchivePorts, namespace: string, runId: string): Promise<ArchiveOutcome> {
  const packer = new Packer();
  const parts: ArchivePart[] = [];
  const artifacts: string[] = [];
  let byteCount = 0;
  let hasEnded = false;
  let seq: number | undefined;

  const put = async (mediaType: string, content: Uint8Array): Promise<string> => {
    const sha256 = sha256Hex(content);
    await store.putArtifact(namespace, sha256, mediaType, content);
    artifacts.push(sha256);
    byteCount += content.length;
    return sha256;
  };
  const take = async (packed: Packed | undefined, isOnly: boolean): Promise<void> => {
    if (packed === undefined) return;
    const content: ArchivePart["content"] =
      isOnly && packed.bytes.length <= INLINE_BYTES_MAX
        ? { case: "packed", value: packed.bytes }
        : { case: "sha256", value: await put("application/gzip", packed.bytes) };
    parts.push({ ...packed.part, content });
  };

  for (let afterSeq = 0; ; ) {
    const { events, headSeq, archive } = await store.readEvents(namespace, runId, { afterSeq, limit: PAGE, deltas: false });
    if (archive !== undefined) return { outcome: "already" };
    if (headSeq === 0 || (afterSeq === 0 && events[0]?.kind !== "run.created")) return { outcome: "missing" };
    if (seq !== undefined && seq !== headSeq) return { outcome: "active" };
    seq = headSeq;
    if (afterSeq === 0) {
      const parentRunId = parentOf(events[0] as StoredEvent);
      if (parentRunId !== undefined && (await isActive(store, namespace, parentRunId))) return { outcome: "waited-for", parentRunId };
    }
    for (const event of events) {
      hasEnded = ENDS.has(event.kind) || (hasEnded && event.kind !== "run.resumed");
      await take(await packer.add(event), false);
    }
    if (events.length < PAGE) break;
    afterSeq = (events.at(-1) as StoredEvent).seq;
  }
  if (!hasEnded) return { outcome: "active" };
  await take(await packer.end(), parts.length === 0);
  const archive = await put("application/x-protobuf", toBinary(StreamArchiveSchema, create(StreamArchiveSchema, { seq: BigInt(seq), parts })));
  if (await store.archiveStream({ namespace, streamId: runId, seq, archive, artifacts })) {
    return { outcome: "archived", eventCount: parts.reduce((sum, part) => sum + part.eventCount, 0), byteCount };
  }
  // Somebody else was quicker, or the run was resumed.
  const now = await store.readEvents(namespace, runId, { afterSeq: seq, limit: 1, deltas: false });
  return { outcome: now.archive === undefined ? "active" : "already" };
}

function parentOf(created: StoredEvent): string | undefined {
  const { payload } = fromBinary(EventSchema, created.bytes);
  return payload.case === "runCreated" ? payload.value.parent?.runId : undefined;
}

async function isActive(store: ArchivePorts, namespace: string, runId: string): Promise<boolean> {
  const [row] = await store.listed(namespace, [runId]);
  return row !== undefined && !ENDED_STATUSES.has(row.status);
}

import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { expect, it } from "vitest";
import type { Store, StoredEvent } from "../ports/index.ts";
import { runEvents } from "./run-history.ts";

/** A run of so many events, read in the pages that are asked for. */
function storeOf(count: number): { readonly store: Pick<Store, "readEvents">; readonly bytes: number; readonly pages: () => number } {
  const events = Array.from({ length: count }, (_, index): StoredEvent => {
    const payload = index === 0 ? ({ case: "runCreated", value: {} } as const) : ({ case: "runPaused", value: {} } as const);
    const bytes = toBinary(EventSchema, create(EventSchema, { seq: BigInt(index + 1), payload }));
    return { seq: index + 1, kind: index === 0 ? "run.created" : "run.paused", bytes };
  });
  let pages = 0;
  const store: Pick<Store, "readEvents"> = {
    readEvents: async (_namespace, _id, { afterSeq, limit }) => {
      pages++;
      return { events: events.slice(afterSeq, afterSeq + limit), headSeq: count, prunedThroughSeq: 0, archive: undefined };
    },
  };
  return { store, bytes: events.reduce((sum, event) => sum + event.bytes.length, 0), pages: () => pages };
}

it("reads a whole run, page by page, as long as its bytes fit", async () => {
  const { store, bytes } = storeOf(2_500);
  const { events, seq } = await runEvents(store, "default", "r", bytes);
  expect([events.length, Number(events.at(-1)?.seq), seq]).toEqual([2_500, 2_500, 2_500]);
});

it("refuses one that is larger, and reads no further", async () => {
  const { store, bytes, pages } = storeOf(5_000);
  await expect(runEvents(store, "default", "r", Math.floor(bytes / 3))).rejects.toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "RUN_TOO_LARGE" });
  expect(pages()).toBe(2);
});

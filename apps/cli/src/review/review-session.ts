import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import type { ProjectLink } from "../server/project-link.ts";
import { buildReview } from "./build-review.ts";
import { changeDiff } from "./change-diff.ts";
import type { Review } from "./review.ts";
import { reviewMarkdown } from "./review-markdown.ts";

const DELTAS = ["turn.output_delta", "tool.output_delta", "user.progress_reported", "user.structured_reported"];
/** More of a session is not reviewed at once. */
const EVENTS_MAX = 200_000;
/** Changes whose diff is made from what was kept; the others have one from their preview, or none. */
const COMPARED_MAX = 100;

/** Reviews a session as it is now. */
export async function reviewSession(link: ProjectLink, sessionId: string): Promise<{ readonly review: Review; readonly markdown: string }> {
  const events = await sessionEvents(link, sessionId);
  const diffs = new Map<string, string>();
  const previewed = new Set(events.flatMap(({ payload, toolCallId }) => (payload.case === "toolPreviewed" && payload.value.preview?.diff ? [toolCallId] : [])));
  const edited = new Set(events.flatMap(({ payload, toolCallId }) => (payload.case === "toolArgumentsEdited" ? [toolCallId] : [])));
  for (const { payload, toolCallId } of events) {
    if (payload.case !== "workspaceChangeRecorded" || diffs.size >= COMPARED_MAX) continue;
    const { changeId, observed, files } = payload.value;
    if (observed || !previewed.has(toolCallId) || edited.has(toolCallId)) diffs.set(changeId, await changeDiff(link, files));
  }
  const review = buildReview(events, ({ id }) => diffs.get(id) ?? "");
  return { review, markdown: reviewMarkdown(review) };
}

/** All events of a session but the pieces of answers and outputs. */
export async function sessionEvents(link: ProjectLink, sessionId: string): Promise<Event[]> {
  const events: Event[] = [];
  const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
  for await (const followed of link.follow({ streams, excludeKinds: DELTAS, noFollow: true })) {
    if (followed.kind === "event") events.push(followed.event);
    if (events.length >= EVENTS_MAX) break;
  }
  return events;
}

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamKind } from "@forge/protocol/common";
import { SessionStatusSchema, TurnStatusSchema } from "@forge/protocol/session";
import { ApprovalCategory, type PendingApproval, PendingApprovalSchema, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import type { Listing } from "../decider.ts";
import { shorten } from "../text.ts";
import { categoryOf } from "../tool-policy.ts";
import { activeTurn, findTool, type SessionState, type ToolCallState, type TurnState, turnStatus } from "./state.ts";

const ARGUMENTS_PREVIEW_MAX = 4_096;
/** Of all approvals of a session together: the row is written again with each append that changes it. The whole diff is in the event. */
const DIFFS_CHARACTERS_MAX = 131_072;

/** A session's row in lists. */
export function sessionListing(state: SessionState): Listing {
  return {
    status: SessionStatusSchema.value[state.status]?.name ?? "",
    detailStatus: state.turn === undefined ? "" : (TurnStatusSchema.value[turnStatus(state.turn)]?.name ?? ""),
    title: state.title,
    subject: state.agent?.model ?? "",
    version: "",
    labels: state.labels,
    approvals: pendingApprovals(state).map((approval) => toBinary(PendingApprovalSchema, approval)),
  };
}

function pendingApprovals(state: SessionState): PendingApproval[] {
  const turn = activeTurn(state);
  if (turn === undefined) return [];
  const asked = turn.toolCalls.filter((call) => call.approval !== undefined).length;
  const share = Math.floor(DIFFS_CHARACTERS_MAX / Math.max(1, asked));
  return turn.toolCalls.flatMap((call) =>
    call.approval === undefined
      ? []
      : create(PendingApprovalSchema, {
          stream: { kind: StreamKind.SESSION, id: state.sessionId },
          approvalId: call.approval.approvalId,
          turnId: turn.turnId,
          toolCallId: call.toolCallId,
          tool: call.tool,
          argumentsPreview: shorten(call.argumentsJson, ARGUMENTS_PREVIEW_MAX),
          risk: findTool(turn, call.tool)?.risk,
          requestedAt: timestampFromMs(call.approval.requestedAtMs),
          expiresAt: timestampFromMs(call.approval.expiresAtMs),
          preview: listedPreview(call, share),
          category: categoryOfCall(turn, call),
        }),
  );
}

function listedPreview({ previewed }: ToolCallState, diffMax: number): ToolPreview | undefined {
  return previewed === undefined ? undefined : create(ToolPreviewSchema, { ...previewed, diff: shorten(previewed.diff, diffMax) });
}

function categoryOfCall(turn: TurnState, call: ToolCallState): ApprovalCategory {
  const tool = findTool(turn, call.tool);
  return tool === undefined ? ApprovalCategory.UNSPECIFIED : categoryOf(tool);
}

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamKind } from "@forge/protocol/common";
import { SessionStatusSchema, TurnStatusSchema } from "@forge/protocol/session";
import { type PendingApproval, PendingApprovalSchema } from "@forge/protocol/tool";
import type { Listing } from "../decider.ts";
import { shorten } from "../text.ts";
import { activeTurn, findTool, type SessionState, turnStatus } from "./state.ts";

const ARGUMENTS_PREVIEW_MAX = 4_096;

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
        }),
  );
}

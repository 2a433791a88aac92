import { create, fromBinary } from "@bufbuild/protobuf";
import type { Api } from "@forge/protocol";
import { type ApprovalService, ListPendingApprovalsResponseSchema, ResolveApprovalRequestSchema, ResolveApprovalResponseSchema } from "@forge/protocol/event";
import { PendingApprovalSchema } from "@forge/protocol/tool";
import type { Store } from "../ports/index.ts";
import { checkPageSize, checkStream, checkUuid } from "./check.ts";
import type { Executor } from "./execute.ts";

export function createApprovalService({ store, executor }: { readonly store: Store; readonly executor: Executor }): Api<typeof ApprovalService> {
  return {
    async resolveApproval(request, call) {
      const stream = checkStream(request.stream, "stream");
      checkUuid(request.approvalId, "approval_id");
      return executor.run({
        call,
        kind: stream.kind,
        streamId: stream.id,
        schema: ResolveApprovalRequestSchema,
        request,
        response: ResolveApprovalResponseSchema,
      });
    },
    async listPendingApprovals(request, call) {
      const limit = checkPageSize(request.pageSize);
      const streamId = request.stream === undefined ? undefined : checkStream(request.stream, "stream").id;
      const afterStreamId = request.pageToken === "" ? undefined : checkUuid(request.pageToken, "page_token");
      const rows = await store.pendingApprovals(call.namespace, { limit, streamId, afterStreamId });
      const approvals = rows.flatMap((row) => row.approvals.map((bytes) => fromBinary(PendingApprovalSchema, bytes)));
      approvals.sort((a, b) => Number(a.requestedAt?.seconds ?? 0n) - Number(b.requestedAt?.seconds ?? 0n));
      return create(ListPendingApprovalsResponseSchema, { approvals, nextPageToken: rows.length === limit ? (rows.at(-1)?.streamId ?? "") : "" });
    },
  };
}

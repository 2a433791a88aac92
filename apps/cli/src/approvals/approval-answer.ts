import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ResolveApprovalRequestSchema } from "@forge/protocol/event";

/** What a person answers: all of the request that does not name the approval. */
export type ApprovalAnswer = Omit<MessageInitShape<typeof ResolveApprovalRequestSchema>, "$typeName" | "header" | "stream" | "approvalId">;

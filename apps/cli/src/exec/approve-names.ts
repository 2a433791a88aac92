import type { ApprovalCategory } from "@forge/protocol/tool";

/** What may be allowed without a person, as it is typed. */
export type ApproveName = Exclude<keyof typeof ApprovalCategory, "UNSPECIFIED"> | "NONE";

/** All of them. */
export const APPROVE_NAMES: readonly ApproveName[] = ["NONE", "CHANGES", "EXECUTION", "EVIDENCE", "ALL"];

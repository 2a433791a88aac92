import type { PendingApproval } from "@forge/protocol/tool";
import { oneLine } from "../output/text.ts";
import type { ProjectLink } from "../server/project-link.ts";

/** All approvals that are waited for, oldest first. */
export async function pendingApprovals(link: ProjectLink): Promise<PendingApproval[]> {
  const all: PendingApproval[] = [];
  for (let pageToken = ""; ; ) {
    const page = { pageSize: 500, pageToken };
    const { approvals, nextPageToken } = await link.call((client) => client.approval.listPendingApprovals(page));
    all.push(...approvals);
    if (nextPageToken === "") return all;
    pageToken = nextPageToken;
  }
}

/** What is asked: a call of a tool, whole, or a workflow's question. */
export function approvalText({ tool, argumentsPreview, question }: Pick<PendingApproval, "tool" | "argumentsPreview" | "question">): string {
  return tool === "" ? oneLine(question) : `${tool} ${oneLine(argumentsPreview)}`.trimEnd();
}

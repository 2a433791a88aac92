import type { PendingApproval } from "@forge/protocol/tool";
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

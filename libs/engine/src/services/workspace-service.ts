import { type Api, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { WorkspaceService } from "@forge/protocol/workspace";
import type { Store } from "../ports/index.ts";

export function createWorkspaceService(_ports: { readonly store: Store }): Api<typeof WorkspaceService> {
  const unsupported = () => Promise.reject(new ForgeError(ErrorCode.UNSUPPORTED, "workspace revisions are not kept here yet"));
  return { createRevision: unsupported, getRevision: unsupported, listRevisions: unsupported };
}

import { ForgeError, isUuid } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import type { Session } from "@forge/protocol/session";
import type { Run } from "@forge/protocol/workflow";
import type { ProjectLink } from "./project-link.ts";

/** What an id names. */
export type FoundStream = { readonly kind: typeof StreamKind.RUN; readonly run: Run } | { readonly kind: typeof StreamKind.SESSION; readonly session: Session };

/** Refuses what can't be an id before anything is started for it. Errors: validation. */
export function checkId(id: string): void {
  if (!isUuid(id))
    throw ForgeError.validation(
      "id",
      `${id.slice(0, 80)} is no id: write the whole id of a run or session, as \`forge runs\` and \`forge sessions\` list them`,
    );
}

/** The run or session with an id. Errors: not_found. */
export async function findStream(link: ProjectLink, id: string): Promise<FoundStream> {
  const { run } = await orNothing(
    link.call((client) => client.workflow.getRun({ runId: id })),
    { run: undefined },
  );
  if (run !== undefined) return { kind: StreamKind.RUN, run };
  const { session } = await orNothing(
    link.call((client) => client.session.getSessionSnapshot({ sessionId: id })),
    { session: undefined },
  );
  if (session !== undefined) return { kind: StreamKind.SESSION, session };
  throw new ForgeError(ErrorCode.NOT_FOUND, `there is no run or session ${id} ${link.place}: \`forge runs\` and \`forge sessions\` list what there is`, {
    reason: "STREAM_NOT_FOUND",
    relatedIds: [id],
  });
}

async function orNothing<T>(call: Promise<T>, nothing: { [K in keyof T]?: undefined }): Promise<T | typeof nothing> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND) return nothing;
    throw error;
  }
}

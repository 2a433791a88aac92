import { durationMs } from "../definition/read-duration.ts";
import type { RuntimeConfig } from "./config-schema.ts";

/** What a project's configuration says of runs that have ended; undefined: they stay as they are. */
export function retention({ retention: { archive_after: after } }: RuntimeConfig): { readonly archiveAfterMs: number } | undefined {
  return after === undefined ? undefined : { archiveAfterMs: durationMs(after) as number };
}

import type { TaskId } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { sql } from "kysely";
import type { Database } from "../database.ts";

/** As the append checks a lease: by epoch, token and holder, not by time. */
export async function leasedTask(
  database: Database,
  lease: TaskId & { readonly epoch: number; readonly token: Uint8Array; readonly principal: string },
  sha256?: string,
): Promise<{ readonly bytes: Uint8Array; readonly refersTo: boolean } | undefined> {
  if (!isUuid(lease.streamId)) return undefined;
  const [task] = await database.run<{ bytes: Buffer; refersTo: boolean }>(
    "forge_leased_task",
    sql`
    select t.bytes, exists (
      select from forge.artifact_reference r where r.ns = t.ns and r.stream_id = t.stream_id and r.sha256 = ${sha256 ?? null}::text
    ) as "refersTo"
    from forge.task t join forge.worker w on w.session_id = t.owner
    where t.ns = ${lease.namespace} and t.stream_id = ${lease.streamId}::uuid and t.task_key = ${lease.key} and t.epoch = ${lease.epoch}::int
      and t.token = ${lease.token}::bytea and w.ns = t.ns and w.principal = ${lease.principal}`,
  );
  return task;
}

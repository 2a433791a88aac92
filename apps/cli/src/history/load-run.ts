import type { JsonValue } from "@bufbuild/protobuf";
import { readArtifact } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type Value } from "@forge/protocol/common";
import type { Run } from "@forge/protocol/workflow";
import { type ReadValue, valuesOf } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";

/** A run with everything that its state is made of, fetched. */
export interface LoadedRun {
  readonly run: Run;
  readonly read: ReadValue;
}

export interface LoadRunOptions extends ServerOptions {
  /** Whether the large values of its state are fetched as well; without them nothing may be read. */
  readonly values: boolean;
}

/** Reads a run, and the large values of its state where they are wanted. Errors: not_found, RUN_NOT_FOUND; validation of the id. */
export async function loadRun(context: Context, runId: string, options: LoadRunOptions): Promise<LoadedRun> {
  checkId(runId);
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const { run } = await link.call((client) => client.workflow.getRun({ runId }));
    if (run === undefined) throw new ForgeError(ErrorCode.INTERNAL, `the server answered without run ${runId}`);
    return { run, read: await readerOf(link, options.values ? valuesOf(run) : []) };
  } finally {
    await link.close();
  }
}

/** Fetches the large ones of these values; reads each of them, and no other large one. */
export async function readerOf(link: ProjectLink, values: readonly Value[]): Promise<ReadValue> {
  const texts = new Map<string, string>();
  for (const value of values) {
    const sha256 = value.kind.case === "artifact" ? value.kind.value.sha256 : undefined;
    if (sha256 !== undefined && !texts.has(sha256)) texts.set(sha256, await artifactText(link, sha256));
  }
  return (value) => parse(value, texts);
}

async function artifactText(link: ProjectLink, sha256: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readArtifact(link.client, sha256)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function parse(value: Value, texts: ReadonlyMap<string, string>): JsonValue {
  const whole = JSON.parse(value.kind.case === "artifact" ? (texts.get(value.kind.value.sha256) as string) : (value.kind.value ?? "null")) as JsonValue;
  let at: JsonValue | undefined = whole;
  for (const key of value.path) at = typeof at === "object" && at !== null ? (at as Record<string, JsonValue>)[key] : undefined;
  return at ?? null;
}

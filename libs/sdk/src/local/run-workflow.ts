import { createHash } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";
import { commandHeader, type ForgeClient, followEvents } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import type { Run } from "@forge/protocol/workflow";

/** How a run is started and watched. */
export interface RunOptions {
  /** By name; absent: none. */
  readonly inputs?: Readonly<Record<string, JsonValue>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Replaces the model of every agent step. */
  readonly model?: string;
  /** Sent again with the same id, the run is found again instead of started twice; absent: a fresh one. */
  readonly commandId?: string;
  /** Is told of the run's life as it goes: `RUN_START`, `STEP_COMPLETE` and so on, with fields as in a run's record. What it throws is printed and stops nothing. */
  readonly onEvent?: (event: string, payload: Readonly<Record<string, JsonValue>>) => void;
  /** Stops waiting; the run goes on. */
  readonly signal?: AbortSignal;
}

/** What stays inline in a value. */
const INLINE_BYTES_MAX = 65_536;
const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);
const DELTAS = ["turn.output_delta", "tool.output_delta"];

/**
 * Starts a workflow that is named as on the command line (a file, a project's directory, an id or id@version; paths begin in `directory`) and waits for the
 * run's end, however it ends.
 * Errors: not_found and validation of the workflow and its inputs; cancelled where the signal came first.
 */
export async function runWorkflow(client: ForgeClient, directory: string, reference: string, options: RunOptions): Promise<Run> {
  const { lifecycle, overwritePolicy, resolveWorkflow, toolPolicy } = await import("@forge/workflow");
  const { definition, project } = await resolveWorkflow(reference, { directory });
  const header = commandHeader(options.commandId);
  const { runId } = await client.workflow.startRun({
    header,
    definition,
    inputs: await valueOf(client, JSON.stringify(options.inputs ?? {})),
    labels: { ...options.labels },
    modelOverride: options.model ?? "",
    policy: toolPolicy(project.config),
    overwritePolicy: overwritePolicy(project.config),
  });
  const next = lifecycle();
  const tell = (event: Event): void => {
    for (const { event: name, payload } of next(event)) {
      try {
        options.onEvent?.(name, payload);
      } catch (error) {
        // Whoever watches must not be able to stop what he watches.
        console.error("onEvent has thrown:", error);
      }
    }
  };
  const streams = [{ stream: { kind: StreamKind.RUN, id: runId } }];
  for await (const followed of followEvents(client, { streams, followChildren: true, excludeKinds: DELTAS, signal: options.signal })) {
    if (followed.kind !== "event") continue;
    tell(followed.event);
    if (followed.event.stream?.id === runId && ENDS.has(followed.event.kind)) break;
  }
  if (options.signal?.aborted === true)
    throw new ForgeError(ErrorCode.CANCELLED, `nobody waits for run ${runId} any more; it goes on`, { relatedIds: [runId] });
  const { run } = await client.workflow.getRun({ runId });
  if (run === undefined) throw new ForgeError(ErrorCode.INTERNAL, `the server answered without run ${runId}`);
  return run;
}

async function valueOf(client: ForgeClient, json: string) {
  const content = new TextEncoder().encode(json);
  if (content.length <= INLINE_BYTES_MAX) return { kind: { case: "json", value: json } } as const;
  const sha256 = createHash("sha256").update(content).digest("hex");
  const { artifact } = await client.artifact.putArtifact({ content, mediaType: "application/json", sha256 });
  if (artifact === undefined) throw new ForgeError(ErrorCode.INTERNAL, "the artifact store answered without a reference");
  return { kind: { case: "artifact", value: artifact } } as const;
}

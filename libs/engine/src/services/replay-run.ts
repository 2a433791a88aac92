import { create } from "@bufbuild/protobuf";
import { replayRun, runView, stateText } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type Value } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { type ReplayRunResponse, ReplayRunResponseSchema } from "@forge/protocol/workflow";
import type { Store } from "../ports/index.ts";
import { sha256Hex } from "../stream/identity.ts";
import { hasEnded, runEvents } from "./run-history.ts";

const STATE_LENGTH_MAX = 64 * 1024;
/** Of all artifacts that a run's events name, what a replay reads at once. */
const ARTIFACT_BYTES_MAX = 256 * 1024 * 1024;

/** Goes through a run's history again. Rejects with not_found; conflict, RUN_ACTIVE; internal, REPLAY_DATA_MISSING. */
export async function replay(store: Store, namespace: string, runId: string, verify: boolean): Promise<ReplayRunResponse> {
  const { events, seq } = await runEvents(store, namespace, runId);
  if (!hasEnded(events)) {
    throw new ForgeError(ErrorCode.CONFLICT, `run ${runId} has not ended; replay it once it has`, { reason: "RUN_ACTIVE", relatedIds: [runId] });
  }
  const artifacts = verify ? await readArtifacts(store, namespace, runId, events) : new Map<string, string>();
  const { steps, mismatches, stateJson } = replayRun(events, verify, { sha256: sha256Hex, artifact: (sha256) => artifacts.get(sha256) });
  const text = stateText(stateJson, STATE_LENGTH_MAX);
  return create(ReplayRunResponseSchema, {
    events: BigInt(seq),
    steps: [...steps],
    mismatches: [...mismatches],
    status: runView(events).status,
    state: text === undefined ? undefined : { kind: { case: "json", value: text } },
  });
}

async function readArtifacts(store: Store, namespace: string, runId: string, events: readonly Event[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let bytes = 0;
  for (const sha256 of new Set(events.flatMap(artifactsNamed))) {
    const content = await store.getArtifact(namespace, sha256);
    if (content === undefined) throw missing(runId, `the artifact ${sha256} is gone`);
    bytes += content.content.byteLength;
    if (bytes > ARTIFACT_BYTES_MAX) throw missing(runId, `its artifacts take more than ${ARTIFACT_BYTES_MAX} bytes; replay it without verify_state`);
    found.set(sha256, new TextDecoder().decode(content.content));
  }
  return found;
}

function artifactsNamed({ payload }: Event): string[] {
  const values: (Value | undefined)[] =
    payload.case === "runCreated"
      ? [payload.value.inputs]
      : payload.case === "runForked"
        ? payload.value.steps.flatMap((step) => [step.output, ...step.items])
        : payload.case === "stepCompleted"
          ? [payload.value.output]
          : payload.case === "stepStarted"
            ? Object.values(payload.value.input)
            : [];
  return values.flatMap((value) => (value?.kind.case === "artifact" ? [value.kind.value.sha256] : []));
}

function missing(runId: string, why: string): ForgeError {
  return new ForgeError(ErrorCode.INTERNAL, `run ${runId} can't be replayed: ${why}`, { reason: "REPLAY_DATA_MISSING", relatedIds: [runId] });
}

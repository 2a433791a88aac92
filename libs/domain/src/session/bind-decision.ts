import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type CapabilityDecision, CapabilityDecisionSchema, Decision, type ToolPreview, ToolPreviewSchema, type ToolSpec } from "@forge/protocol/tool";
import type { Context } from "../decider.ts";
import { toolDigest } from "../tool-policy.ts";
import type { Verdict } from "./gate.ts";
import type { SessionRecorder } from "./session-command.ts";
import type { TurnState } from "./state.ts";

/** What a verdict is about. */
interface BoundCall {
  /** Undefined where nobody serves it. */
  readonly spec: ToolSpec | undefined;
  readonly tool: string;
  readonly argumentsJson: string;
  readonly preview: ToolPreview | undefined;
}

const DECISIONS: Readonly<Record<Verdict["kind"], Decision>> = {
  granted: Decision.ALLOW,
  previewed: Decision.PREVIEW,
  asked: Decision.ASK,
  denied: Decision.DENY,
  impossible: Decision.DENY,
  stopped: Decision.DENY,
};

/** Binds a verdict to exactly this call: this tool as it is served now, these arguments, this preview, this session, until the turn or the question ends. */
export function bindDecision(recorder: SessionRecorder, turn: TurnState, call: BoundCall, verdict: Verdict): CapabilityDecision {
  const { state, context } = recorder;
  return create(CapabilityDecisionSchema, {
    decision: DECISIONS[verdict.kind],
    subject: `session:${context.streamId}`,
    tool: call.tool,
    toolDigest: call.spec === undefined ? "" : toolDigest(context, call.spec),
    argumentsDigest: context.sha256(call.argumentsJson),
    source: verdict.source,
    decidedBy: decidedBy(verdict, state.policyBy),
    expiresAt: timestampFromMs(verdict.kind === "asked" ? context.nowMs + verdict.ttlMs : turn.deadlineAtMs),
    previewDigest: previewDigest(context, call.preview),
  });
}

/** A policy speaks for whoever gave it to the session, a grant for whoever gave that. */
function decidedBy(verdict: Verdict, policyBy: string): string {
  if (verdict.kind === "granted" && verdict.grantedBy !== undefined) return verdict.grantedBy;
  return verdict.source.startsWith("policy:") ? policyBy : "control-plane";
}

/** SHA-256 of the encoded preview, hexadecimal; empty where there is none. */
export function previewDigest(context: Pick<Context, "sha256">, preview: ToolPreview | undefined): string {
  return preview === undefined ? "" : context.sha256(toBinary(ToolPreviewSchema, preview));
}

import type { ArtifactRef } from "@forge/protocol/common";
import type { WorkspaceChangeRecorded } from "@forge/protocol/event";
import type { ApprovalCategory, RiskLevel, ToolMode, ToolPreview } from "@forge/protocol/tool";

/** What JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** What every call of a tool is given beside its arguments, told or done. */
export interface ToolRequest {
  /** Aborted on cancellation, on a lost lease and when the time is up; `reason` is a ForgeError. */
  readonly signal: AbortSignal;
  /** How much the session lets its agent do; ACT for a run's step. */
  readonly mode: ToolMode;
  /** The same for every attempt of one call. */
  readonly idempotencyKey: string;
  /** Of the session or run that asks; what lives longer than a call (a process in the background) belongs to it. */
  readonly owner: ToolOwner;
  putArtifact(content: Uint8Array, mediaType: string): Promise<ArtifactRef>;
  getArtifact(sha256: string): Promise<Uint8Array>;
}

/** Whose call it is; what does not apply is empty. */
export interface ToolOwner {
  readonly sessionId: string;
  readonly turnId: string;
  readonly runId: string;
  readonly stepId: string;
}

/** What a tool is given beside its arguments when it is to act. */
export interface ToolCall extends ToolRequest {
  /** What `preview` told and people decided on; its facts must still hold. Undefined where nobody had to be told. */
  readonly previewed: ToolPreview | undefined;
  /** What a person answered, in order, to the questions that this call asked by throwing InputRequired. */
  readonly inputs: readonly string[];
  /** What the call left for itself when it asked; empty before. */
  readonly resumeJson: string;
  /** Shows a piece of output while the call runs. */
  report(text: string): void;
  /** Tells people how far it is: at most 1,024 characters, and where it is known a fraction from 0 to 1. Beyond 1,000 pieces of a call nothing more is told. */
  progress(message: string, fraction?: number): void;
  /** Tells an application something of its own, under its name for it (at most 128 characters) as at most 16 KiB of JSON; counted with `progress`. */
  structured(type: string, value: JsonValue): void;
  /** Says that files of the workspace were changed: recorded with the call's end, whatever that is. */
  changed(change: WorkspaceChangeRecorded): void;
  /** Says, of a tool that `observes`, that this call is kept from writing to the workspace: what changes meanwhile is not its doing. */
  readsOnly(): void;
}

/** A tool in TypeScript: what a model sees of it, and what it does. */
export interface ToolDefinition<Arguments> {
  /** Dotted, at most 128 characters. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12); arguments that don't match it never reach `preview` or `execute`. */
  readonly inputSchema: { readonly [key: string]: unknown };
  /** True where the schema is somebody else's: keywords and formats that are not known here are ignored instead of refused. */
  readonly foreignSchema?: boolean;
  /** True only where calling twice has the effect of once. */
  readonly idempotent: boolean;
  readonly risk: RiskLevel;
  /** Absent: by risk. */
  readonly category?: ApprovalCategory;
  /** What serves it beside this worker; see ToolSpec.source_digest. */
  readonly sourceDigest?: string;
  /** The longest that one call may take. */
  readonly timeoutMs: number;
  /** True where what it does to files can't be told by itself (a command): the workspace is compared before and after. */
  readonly observes?: boolean;
  /**
   * Tells what a call would do, and does nothing. A ForgeError that it throws is the call's error: nobody is asked about what can't be done.
   * A tool that has it compares `previewed.factsJson` in `execute`, right before it acts, and throws previewStale() where the world differs.
   */
  preview?(args: Arguments, request: ToolRequest): Promise<ToolPreview>;
  /**
   * Resolves with the call's output. Settles only when everything that it began has stopped, also after the signal; where that can't be made sure, it throws
   * stopUnconfirmed(). A ForgeError that it throws is the call's error.
   */
  execute(args: Arguments, call: ToolCall): Promise<JsonValue>;
}

/** What a session was asked, planned, changed, ran and proved. Bounded: `omitted` counts what was left out. JSON as it is written. */
export interface Review {
  readonly session: { readonly id: string; readonly title: string; readonly model: string; readonly mode: string; readonly created_at: string | null };
  readonly turns: readonly ReviewedTurn[];
  readonly changes: readonly ReviewedChange[];
  /** Compactions, rewinds and undos, in order. */
  readonly history: readonly string[];
  readonly usage: ReviewedUsage;
  readonly omitted: { readonly turns: number; readonly calls: number; readonly changes: number; readonly diffs: number };
}

export interface ReviewedTurn {
  readonly id: string;
  readonly asked: string;
  /** What the person told the turn while it ran. */
  readonly steered: readonly string[];
  /** Rules and references that the host put before it. */
  readonly context: readonly string[];
  readonly planned: readonly { readonly step: string; readonly status: string }[];
  readonly calls: readonly ReviewedCall[];
  readonly hooks: readonly { readonly hook: string; readonly at: string; readonly edits: number; readonly error: string | null }[];
  readonly answer: string;
  readonly outcome: string;
  readonly error: string | null;
  readonly usage: ReviewedUsage;
}

export interface ReviewedCall {
  readonly id: string;
  readonly tool: string;
  /** What it does, in the worker's words where it told. */
  readonly what: string;
  /** "completed", "failed", "denied", "cancelled", "unknown" or "open". */
  readonly outcome: string;
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  /** What let it pass, or did not: "policy:rule:0", "grant:...", "approval:...". */
  readonly decided: string;
  readonly decided_by: string;
  readonly comment: string;
  /** Who changed the arguments, where somebody did. */
  readonly edited_by: string | null;
  /** True of checks whose argument vectors the workspace's owner wrote down. */
  readonly is_evidence: boolean;
}

export interface ReviewedChange {
  readonly id: string;
  readonly call_id: string;
  readonly turn_id: string;
  readonly tool: string;
  readonly observed: boolean;
  readonly undone: boolean;
  readonly not_undoable: readonly string[];
  readonly files: readonly {
    readonly path: string;
    readonly before_sha256: string;
    readonly after_sha256: string;
    readonly added: number;
    readonly removed: number;
    readonly not_undoable: string;
  }[];
  /** A unified diff, where it is known; cut where it is long. */
  readonly diff: string;
}

export interface ReviewedUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  /** Null where nobody knows. */
  readonly cost_usd: number | null;
}

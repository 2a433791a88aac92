/** What one look has found. */
export interface Finding {
  /** What was looked at: "node", "data directory". */
  readonly check: string;
  readonly status: "ok" | "warning" | "problem";
  /** One sentence; never a secret. */
  readonly message: string;
  /** What to do; absent where there is nothing to do. */
  readonly advice?: string;
}

/** A finding without the name of its check, which is added where the check is run. */
export type Found = Omit<Finding, "check">;

export function ok(message: string): Found {
  return { status: "ok", message };
}

export function warning(message: string, advice: string): Found {
  return { status: "warning", message, advice };
}

export function problem(message: string, advice: string): Found {
  return { status: "problem", message, advice };
}

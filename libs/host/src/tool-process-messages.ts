import type { TurnEnd } from "./extensions/watch-ends.ts";
import type { ToolWorkerSettings } from "./tool-worker.ts";

/** What the process of the tools tells the host. */
export type ToHost =
  /** It has joined. */
  | { readonly kind: "joined" }
  /** It can't; nothing more follows. */
  | { readonly kind: "failed"; readonly message: string }
  /** Something went wrong beside any task. */
  | { readonly kind: "problem"; readonly message: string }
  /** Nothing is held any more, or the time is over. */
  | { readonly kind: "drained" };

/** What the host tells the process of the tools. The settings come first, and once: a token on a command line or in an environment is read by others. */
export type ToTools =
  | { readonly kind: "settings"; readonly settings: ToolWorkerSettings }
  /** What runs in the background of it ends, and the hooks for its end are called. */
  | { readonly kind: "turn-ended"; readonly end: TurnEnd }
  | { readonly kind: "session-ended"; readonly sessionId: string }
  | { readonly kind: "drain"; readonly waitMs: number }
  /** It ends by itself then. */
  | { readonly kind: "stop" };

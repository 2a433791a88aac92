import type { Context } from "./context.ts";

/** What a command does; answers with the exit code. */
export type Action = (context: Context, positional: readonly (string | undefined)[], options: never) => Promise<number>;

import { statSync } from "node:fs";

/** The descriptor of the channel between worker and child; standard output belongs to the functions. */
export const CHANNEL_DESCRIPTOR = 3;

/** What a function is given beside its inputs. */
export interface FunctionContext {
  readonly runId: string;
  readonly stepId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** The same for every attempt of one step: hand it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** Aborted on cancellation and at the deadline; a moment later the process is killed. */
  readonly signal: AbortSignal;
  /** Says that the work goes on: of a step with a `heartbeat_timeout`, what neither prints nor says this for so long is stopped. */
  heartbeat(): void;
}

/** Frame C, to the child: call a function. Beside these, `inputs` holds the object that it is given. */
export interface CallRequest {
  readonly file: string;
  readonly name: string;
  /** In place of a function, of Python only: call the tool of this name. */
  readonly tool?: string;
  readonly context: Omit<FunctionContext, "signal" | "heartbeat">;
}

/** Frame D, to the child: name the functions that a file exports. Frame T, of Python only: describe the tools that it has. */
export interface DiscoverRequest {
  readonly file: string;
}

/**
 * Frame E, from the child: why there is no result.
 *
 * - `load`: the file could not be imported. `missing`: it exports no such function. `threw`: the function did, or its promise was rejected.
 * - `uncaught`: something that the function left behind threw, so the process can't be trusted any more.
 * - `result`: what it returned is no JSON object. `arguments`: they don't match a tool's schema, and nothing was called.
 */
export interface ChildError {
  readonly kind: "load" | "missing" | "threw" | "uncaught" | "result" | "arguments";
  readonly message: string;
}

/** Frame H, from the child, without content: the call goes on. Frame S, from the child: files that it has loaded since the last such frame, each with its stamp at that time. */
export type LoadedSources = readonly (readonly [path: string, stamp: string])[];

/** Tells one content of a file from another without reading it; empty where it is missing. */
export function sourceStamp(path: string): string {
  // Whole numbers: a child in another language writes them the same.
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "" : `${stat.mtimeNs}:${stat.size}:${stat.ino}`;
}

import type { PostgresConnection } from "@forge/store-postgres";
import type { Writes } from "./counting-store.ts";

/** What a server process is told at its start. */
export interface ServerConfig {
  readonly connection: PostgresConnection;
  /** Set: the connection is through a pooler in transaction mode, and this one past it. */
  readonly listenOn?: PostgresConnection;
  /** Where its executor works and finds `functions/`; absent: it has no executor. */
  readonly project?: string;
  /** Where its executor finds providers; set: it serves no tools, which another process does. */
  readonly models?: Readonly<Record<string, string>>;
}

/** What it answers once it serves. */
export interface ServerReady {
  readonly type: "ready";
  readonly url: string;
  readonly clientToken: string;
  readonly workerToken: string;
  /** Where handlers that do nothing are served, by the same library with the same settings. */
  readonly bareUrl: string;
}

/** What an executor process is told at its start. */
export interface ExecutorConfig {
  readonly url: string;
  readonly token: string;
  readonly project: string;
}

/** What the echo service is told at its start. */
export interface EchoConfig {
  /** A file of RecordedAnswers as JSON. */
  readonly answers: string;
}

/** Encoded answers, base64. */
export interface RecordedAnswers {
  readonly snapshot: string;
  readonly events: readonly string[];
}

/** What it answers once it serves. */
export interface EchoReady {
  readonly type: "ready";
  readonly http1Url: string;
  readonly http2Url: string;
}

export type Question = { readonly type: "writes" } | { readonly type: "listing" } | { readonly type: "memory" } | { readonly type: "stop" };

/** The answer to `writes`. */
export interface WritesAnswer {
  readonly type: "writes";
  readonly writes: Writes;
  /** Processor time of the process since its start, in microseconds. */
  readonly cpuUs: number;
  /** Statements that it has sent to PostgreSQL, those by the clock included. */
  readonly statements: number;
}

/** The answer to `listing`; absent where no list has been read. */
export interface ListingAnswer {
  readonly type: "listing";
  readonly statement?: { readonly text: string; readonly values: readonly unknown[] };
}

/** The answer to `memory`. */
export interface MemoryAnswer {
  readonly type: "memory";
  /** What is reachable, in bytes: the heap after a collection, and what hangs on it outside. */
  readonly bytes: number;
}

export const ENVIRONMENT_VARIABLE = "FORGE_BENCH";

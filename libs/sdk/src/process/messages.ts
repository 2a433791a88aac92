import { statSync } from "node:fs";

/** What the process of a file is told. Bytes are encoded messages of forge.*; ids are of this pair of processes only. */
export type ToChild =
  /** Perform a leased task (LeasedTask, without its token; its task whole). `handler` is the place of its capability in `loaded`. */
  | { readonly kind: "call"; readonly call: number; readonly handler: number; readonly lease: Uint8Array }
  /** Abort a call's signal; `error` is a ForgeError. */
  | { readonly kind: "abort"; readonly call: number; readonly error: Uint8Array }
  | { readonly kind: "answer"; readonly request: number; readonly value: unknown }
  | { readonly kind: "refusal"; readonly request: number; readonly error: Uint8Array };

/** What a call may ask for; each has the argument and answer that `RemoteContext` gives it. */
export type Method = "start" | "readConversation" | "listChanges" | "putArtifact" | "getArtifact" | "toValue" | "fromValue";

/** What the process of a file tells. */
export type FromChild =
  /** The file was imported; the first message, or `failed` is. Capabilities are encoded, in the order of their handlers. */
  | { readonly kind: "loaded"; readonly capabilities: readonly Uint8Array[] }
  /** It could not be; `error` is a ForgeError. The process ends. */
  | { readonly kind: "failed"; readonly error: Uint8Array }
  /** It is about to read these files, with their stamps. */
  | { readonly kind: "sources"; readonly sources: LoadedSources }
  | { readonly kind: "request"; readonly request: number; readonly call: number; readonly method: Method; readonly argument: unknown }
  /** An OutputDelta without its lease. */
  | { readonly kind: "report"; readonly call: number; readonly delta: Uint8Array }
  /** A Settlement without its lease. */
  | { readonly kind: "outcome"; readonly call: number; readonly settlement: Uint8Array }
  | { readonly kind: "log"; readonly level: LogLevel; readonly message: string };

export type LogLevel = "debug" | "info" | "warn" | "error";

export type LoadedSources = readonly (readonly [path: string, stamp: string])[];

/** Tells one content of a file from another without reading it; empty where it is missing. */
export function sourceStamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
}

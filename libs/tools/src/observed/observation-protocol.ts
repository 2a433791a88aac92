import type { Observation } from "./observed-file.ts";

/** What the thread is started with. */
export interface ThreadStart {
  /** The workspace's real path. */
  readonly root: string;
  readonly forbidden: readonly string[];
  /** For what is known of the workspace. */
  readonly directory: string;
  /** Of all contents together. */
  readonly bytesMax: number;
}

/** What the thread is asked; one after the other. */
export type ThreadQuestion =
  | { readonly kind: "scan"; readonly mayForget: boolean }
  | { readonly kind: "refresh"; readonly paths: readonly string[] }
  | { readonly kind: "content"; readonly sha256: string };

/** What it answers. */
export type ThreadAnswer =
  | { readonly kind: "scan"; readonly observation: Observation }
  | { readonly kind: "refresh" }
  | { readonly kind: "content"; readonly content: Uint8Array | undefined };

import type { MapRequest, RenderedMap } from "../map/render-map.ts";
import type { IndexStatus } from "./index-status.ts";
import type { Beat } from "./watch-beat.ts";

/** What the thread is started with. */
export interface StartThread {
  readonly root: string;
  readonly dataDirectory: string;
  readonly beat: Beat;
}

/** What the thread is asked; `id` comes back with the answer. */
export type ToThread = { readonly kind: "update"; readonly id: number } | { readonly kind: "map"; readonly id: number; readonly request: MapRequest };

/** What the thread says. */
export type FromThread =
  | { readonly kind: "status"; readonly status: IndexStatus }
  | { readonly kind: "updated"; readonly id: number; readonly status: IndexStatus }
  | { readonly kind: "map"; readonly id: number; readonly map: RenderedMap; readonly status: IndexStatus }
  | { readonly kind: "failed"; readonly id: number; readonly message: string };

import type { ForgeError } from "@forge/protocol";
import type { StreamRef } from "@forge/protocol/common";
import type { CaughtUp, Event, Position } from "@forge/protocol/event";
import { Cursors } from "./cursors.ts";
import type { ForgeClient } from "./forge-client.ts";
import { pause } from "./pause.ts";
import { isPassing } from "./retry.ts";

export interface FollowOptions {
  readonly streams: readonly { readonly stream: Pick<StreamRef, "kind" | "id">; readonly afterSeq?: number }[];
  /** Also the sessions and runs that work for them, from their beginning and at any depth. */
  readonly followChildren?: boolean;
  readonly excludeKinds?: readonly string[];
  /** End after everything that is durable now. */
  readonly noFollow?: boolean;
  readonly signal?: AbortSignal;
  /** The connection was lost, or this reader was too slow; it goes on by itself. */
  readonly onReconnect?: (error: ForgeError) => void;
}

export type Followed =
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "caughtUp"; readonly caughtUp: CaughtUp }
  | { readonly kind: "position"; readonly position: Position };

/**
 * The events of streams, in order and each once: reconnects by itself with backoff and goes on after the last one. `caughtUp` comes once.
 * Ends when the signal aborts. Errors: what a reconnection can't mend, for example not_found or CURSOR_AHEAD.
 */
export async function* followEvents(client: ForgeClient, options: FollowOptions): AsyncGenerator<Followed> {
  const cursors = new Cursors(options);
  const ended = () => options.signal?.aborted === true;
  let caughtUp = false;
  for (let attempt = 0; !ended(); ) {
    try {
      const request = {
        streams: cursors.toAsk(),
        followChildren: options.followChildren ?? false,
        filter: { excludeKinds: [...(options.excludeKinds ?? [])] },
        noFollow: options.noFollow ?? false,
      };
      for await (const { kind } of client.event.subscribeEvents(request, { signal: options.signal })) {
        attempt = 0;
        if (kind.case === "event") {
          if (cursors.isNew(kind.value)) yield { kind: "event", event: kind.value };
        } else if (kind.case === "position") {
          cursors.moveTo(kind.value);
          yield { kind: "position", position: kind.value };
        } else if (kind.case === "caughtUp") {
          for (const position of kind.value.positions) cursors.moveTo(position);
          if (caughtUp) continue;
          caughtUp = true;
          yield { kind: "caughtUp", caughtUp: kind.value };
        }
      }
      if (options.noFollow === true || ended()) return;
    } catch (error) {
      if (ended()) return;
      if (!isPassing(error)) throw error;
      options.onReconnect?.(error);
    }
    await pause(attempt++, options.signal);
  }
}

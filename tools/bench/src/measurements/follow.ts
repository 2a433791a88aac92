import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ForgeClient } from "@forge/client";
import type { StreamRefSchema } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";

/** Somebody who follows one stream until it is closed. */
export interface Follower {
  /** Resolves once everything that was there has been received. */
  readonly caughtUp: Promise<void>;
  /** Rejects with what ended it; never resolves. */
  readonly broken: Promise<never>;
  close(): void;
}

/** What `onEvent` throws ends the follower, as the server's refusals do. */
export function follow(
  client: Pick<ForgeClient, "event">,
  cursor: { readonly stream: MessageInitShape<typeof StreamRefSchema>; readonly afterSeq?: bigint },
  onEvent: (event: Event) => void,
): Follower {
  const stop = new AbortController();
  const caughtUp = Promise.withResolvers<void>();
  const broken = Promise.withResolvers<never>();
  const receive = async (): Promise<void> => {
    for await (const { kind } of client.event.subscribeEvents({ streams: [cursor] }, { signal: stop.signal })) {
      if (kind.case === "caughtUp") caughtUp.resolve();
      if (kind.case === "event") onEvent(kind.value);
    }
    throw new Error("the subscription ended by itself");
  };
  receive().catch((error: unknown) => {
    if (stop.signal.aborted) return;
    broken.reject(error);
  });
  const whole = Promise.race([caughtUp.promise, broken.promise]);
  // Whoever waits for something gets what ended it.
  for (const promise of [broken.promise, whole]) promise.catch(() => undefined);
  return { caughtUp: whole, broken: broken.promise, close: () => stop.abort() };
}

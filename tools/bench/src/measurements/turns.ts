import { commandHeader, type ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";

/** Turns in one session; after so many another one is opened, so that a turn's cost is not that of a long conversation. */
const TURNS_PER_SESSION = 10;

const MODEL = "demo/echo";
const TEXT = "The quick brown fox jumps over the lazy dog.";
const END = /^turn\.(?:completed|failed|cancelled|abandoned)$/;

/** A session, and somebody who follows it. */
interface FollowedSession {
  readonly sessionId: string;
  turns: number;
  /** Resolves when the subscriber is told of the turn's end. */
  ended(turnId: Promise<string>): Promise<void>;
  close(): void;
}

async function openSession(client: ForgeClient): Promise<FollowedSession> {
  const { sessionId } = await client.session.createSession({ header: commandHeader(), agent: { model: MODEL } });
  const stop = new AbortController();
  const { promise: caughtUp, resolve: onCaughtUp } = Promise.withResolvers<void>();
  const { promise: broken, reject: onBroken } = Promise.withResolvers<never>();
  const ends = new Map<string, { readonly promise: Promise<void>; readonly resolve: () => void }>();
  const endOf = (turnId: string) => {
    const known = ends.get(turnId) ?? Promise.withResolvers<void>();
    ends.set(turnId, known);
    return known;
  };
  const follow = async (): Promise<void> => {
    const responses = client.event.subscribeEvents({ streams: [{ stream: { kind: StreamKind.SESSION, id: sessionId } }] }, { signal: stop.signal });
    for await (const { kind } of responses) {
      if (kind.case === "caughtUp") onCaughtUp();
      if (kind.case !== "event" || !END.test(kind.value.kind)) continue;
      if (kind.value.kind !== "turn.completed") throw new Error(`a turn ended as ${kind.value.kind}`);
      endOf(kind.value.turnId).resolve();
    }
  };
  follow().catch((error: unknown) => {
    if (!stop.signal.aborted) onBroken(error);
  });
  broken.catch(() => undefined); // Whoever waits for a turn gets it.
  await Promise.race([caughtUp, broken]);
  return {
    sessionId,
    turns: 0,
    ended: async (turnId) => {
      const id = await turnId;
      await Promise.race([endOf(id).promise, broken]);
      ends.delete(id);
    },
    close: () => stop.abort(),
  };
}

/** Sessions of the demo model, in each of which one turn runs at a time. */
export class TurnRunner {
  readonly #client: ForgeClient;
  readonly #sessions: FollowedSession[] = [];
  readonly sessionIds: string[] = [];

  constructor(client: ForgeClient) {
    this.#client = client;
  }

  /** Opens what a number of turns at once needs, so that opening is not measured. */
  async prepare(turns: number): Promise<void> {
    const count = Math.ceil(turns / TURNS_PER_SESSION);
    const opened = await Promise.all(Array.from({ length: count }, () => openSession(this.#client)));
    this.#sessions.push(...opened);
    this.sessionIds.push(...opened.map(({ sessionId }) => sessionId));
  }

  /** One turn, from the call to its end at the subscriber. */
  async turn(): Promise<void> {
    const session = this.#sessions.shift();
    if (session === undefined) throw new Error("fewer sessions than turns were prepared");
    const answer = this.#client.session.startTurn({
      header: commandHeader(),
      sessionId: session.sessionId,
      input: [{ kind: { case: "text", value: { text: TEXT } } }],
    });
    await session.ended(answer.then(({ turnId }) => turnId));
    session.turns++;
    if (session.turns < TURNS_PER_SESSION) this.#sessions.unshift(session);
    else session.close();
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }
}

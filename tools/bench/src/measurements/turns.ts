import { commandHeader, type ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { follow } from "./follow.ts";
import { TEXT, TURNS_PER_SESSION } from "./turn-contents.ts";

const MODEL = "demo/echo";
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
  const ends = new Map<string, { readonly promise: Promise<void>; readonly resolve: () => void }>();
  const endOf = (turnId: string) => {
    const known = ends.get(turnId) ?? Promise.withResolvers<void>();
    ends.set(turnId, known);
    return known;
  };
  const follower = follow(client, { stream: { kind: StreamKind.SESSION, id: sessionId } }, ({ kind, turnId }) => {
    if (!END.test(kind)) return;
    if (kind !== "turn.completed") throw new Error(`a turn ended as ${kind}`);
    endOf(turnId).resolve();
  });
  await follower.caughtUp;
  return {
    sessionId,
    turns: 0,
    ended: async (turnId) => {
      const id = await turnId;
      await Promise.race([endOf(id).promise, follower.broken]);
      ends.delete(id);
    },
    close: () => follower.close(),
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

import { commandHeader, type ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { Decision } from "@forge/protocol/tool";
import { nowMs } from "./clock.ts";

const MODEL = "openai/bench";
const END = /^turn\.(?:completed|failed|cancelled|abandoned)$/;

/** What a subscriber was told of a turn. */
export interface SeenTurn {
  readonly events: readonly Event[];
  /** When the first piece of the answer's text had come, on the clock of `nowMs`; NaN where there was none. */
  readonly firstTextMs: number;
}

/** A session of one turn, whose opening is not measured. */
export interface AgentSession {
  readonly sessionId: string;
  /** Resolves when the subscriber is told of the turn's end. `onFirstText` is called when the first piece of text comes. Throws where it does not complete. */
  turn(onFirstText?: () => void): Promise<SeenTurn>;
}

/** Opens a session whose tools are allowed, and follows it. */
export async function openAgentSession(client: ForgeClient, tools: readonly string[]): Promise<AgentSession> {
  const { sessionId } = await client.session.createSession({
    header: commandHeader(),
    agent: { model: MODEL, tools: [...tools] },
    policy: { defaultDecision: Decision.ALLOW },
  });
  const stop = new AbortController();
  const responses = client.event.subscribeEvents({ streams: [{ stream: { kind: StreamKind.SESSION, id: sessionId } }] }, { signal: stop.signal });
  const caughtUp = Promise.withResolvers<void>();
  let firstText: (() => void) | undefined;
  const follow = async (): Promise<SeenTurn> => {
    const events: Event[] = [];
    let firstTextMs = Number.NaN;
    for await (const { kind } of responses) {
      if (kind.case === "caughtUp") caughtUp.resolve();
      if (kind.case !== "event") continue;
      const { value } = kind;
      events.push(value);
      if (Number.isNaN(firstTextMs) && value.payload.case === "turnOutputDelta" && value.payload.value.channel.case === "text") {
        firstTextMs = nowMs();
        firstText?.();
      }
      if (!END.test(value.kind)) continue;
      if (value.kind !== "turn.completed") throw new Error(`a turn ended as ${value.kind}: ${JSON.stringify(value.payload.value, jsonText)}`);
      return { events, firstTextMs };
    }
    throw new Error(`the stream of session ${sessionId} ended before its turn`);
  };
  const followed = follow().finally(() => stop.abort());
  followed.catch((error: unknown) => caughtUp.reject(error));
  await caughtUp.promise;
  return {
    sessionId,
    turn: async (onFirstText) => {
      firstText = onFirstText;
      await client.session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text: "Go on." } } }] });
      return followed;
    },
  };
}

function jsonText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

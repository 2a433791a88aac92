import type { Decider } from "../decider.ts";
import { sessionCommands } from "./commands.ts";
import { decideSession } from "./decide.ts";
import { sessionDeltaIds } from "./delta-ids.ts";
import { evolveSession } from "./evolve.ts";
import { sessionListing } from "./listing.ts";
import { outstandingSession } from "./outstanding.ts";
import type { SessionCommand, SessionResult } from "./session-command.ts";
import { initialSessionState, type SessionState } from "./state.ts";

/** Sessions: a durable agent context and the turns in it. */
export const sessionDecider: Decider<SessionState, SessionCommand, SessionResult> = {
  kind: "session",
  reducerVersion: 3,
  initial: initialSessionState,
  needs: () => [],
  decide: decideSession,
  evolve: evolveSession,
  outstanding: (state) => [outstandingSession(state)],
  commands: sessionCommands,
  listing: sessionListing,
  deltaIds: sessionDeltaIds,
};

import type { AgentSpec, Message } from "@forge/protocol/session";
import type { ToolPolicy } from "@forge/protocol/tool";

/** What a session is to begin with, read from another one by whoever gives the command. */
export interface ForkFrom {
  readonly $typeName: "session.fork_from";
  readonly sourceSessionId: string;
  readonly throughSeq: number;
  readonly agent: AgentSpec | undefined;
  readonly policy: ToolPolicy | undefined;
  readonly queue: string;
  readonly title: string;
  readonly labels: { readonly [key: string]: string };
  /** A whole conversation: each call followed by its result. */
  readonly messages: readonly Message[];
}

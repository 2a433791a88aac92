import type { AgentSpec, Message, ParentCall } from "@forge/protocol/session";
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
  /** The tool call that the session works for: a sub-agent's that begins with its caller's conversation. */
  readonly parentCall?: ParentCall | undefined;
  /** A whole conversation: each call followed by its result. */
  readonly messages: readonly Message[];
}

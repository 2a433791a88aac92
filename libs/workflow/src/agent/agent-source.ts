import type { ForgeError } from "@forge/protocol";
import type { AgentStep } from "@forge/protocol/workflow";
import type { PipelineStep } from "./pipeline-workflow.ts";

/** An agent as a step will run it. */
export interface LoadedAgent {
  /** Of a pipeline of several steps: its first model step. */
  readonly agent: AgentStep;
  /** Its steps, where it has several; empty: `agent` is all that it does. */
  readonly pipeline: readonly PipelineStep[];
  /** What it is for, as its file says; empty where it says nothing. */
  readonly description: string;
  /** What is odd in its file, with positions. */
  readonly warnings: readonly string[];
}

/** What became of looking for an agent. */
export type AgentLookup =
  | { readonly kind: "found"; readonly agent: LoadedAgent }
  /** Its file is there, and something is wrong with it. */
  | { readonly kind: "invalid"; readonly error: ForgeError }
  /** There is no such id, or no such version of it: what there is, and files whose id nobody can tell. */
  | { readonly kind: "unknown"; readonly known: readonly string[]; readonly unreadable: readonly string[] };

/** Where a workflow's agents are looked up, by id or id@version. */
export interface AgentSource {
  find(id: string, version: string | undefined): AgentLookup;
}

/** What became of looking for an agent that another one calls. */
export type SubAgentLookup =
  | AgentLookup
  /** It calls, at whatever distance, the one that asks: the agents on the way, from it and back to it. */
  | { readonly kind: "circle"; readonly path: readonly string[] };

/** Where an agent's file finds the agents that it calls. */
export interface SubAgentSource {
  find(id: string, version: string | undefined): SubAgentLookup;
}

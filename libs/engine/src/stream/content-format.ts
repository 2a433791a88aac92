import type { Event } from "@forge/protocol/event";
import { type AgentSpec, ErrorRecovery } from "@forge/protocol/session";
import { ToolMode, type ToolPolicy } from "@forge/protocol/tool";
import { OverwritePolicy, type StepDefinition } from "@forge/protocol/workflow";
import { kindOf } from "./envelope.ts";
import { type EventFormats, formatOf } from "./event-formats.ts";

/** The format that brought graphs: lists, waits, conditions, and workflows as steps. */
const GRAPH_FORMAT = 2;
/** The format that brought hooks, sub-agents, modes, rule keys, runs that let nothing be overwritten and branches of steps that failed. */
const LOOP_FORMAT = 3;

/**
 * The format that an event needs: that of its kind, or of what is in it. A control plane that reads the kind but not the content would let through what a hook has to
 * see, or execute what a mode forbids, without knowing that it does.
 */
export function neededFormat(formats: EventFormats, payload: Event["payload"]): number {
  const ofKind = formatOf(formats, kindOf(payload.case ?? ""));
  const ofContent = holdsLoop(payload) ? LOOP_FORMAT : holdsGraph(payload) ? GRAPH_FORMAT : 1;
  // A version that knows no newer kinds knows no newer content either.
  return formats.reads >= ofContent ? Math.max(ofKind, ofContent) : ofKind;
}

/** A version from before would take a graph for a sequence. A run below a step may be one as well. */
function holdsGraph(payload: Event["payload"]): boolean {
  return payload.case === "runCreated" && payload.value.definition !== undefined && payload.value.definition.steps.some(isOfGraph);
}

function isOfGraph({ needs, when, forEach, kind }: StepDefinition): boolean {
  return needs.length > 0 || when !== "" || forEach !== undefined || kind.case === "wait" || kind.case === "workflow";
}

function holdsLoop(payload: Event["payload"]): boolean {
  switch (payload.case) {
    case "sessionCreated":
      return payload.value.parentCall !== undefined || isOfLoop(payload.value.agent) || bindsByMode(payload.value.policy);
    case "sessionPolicyUpdated":
      return bindsByMode(payload.value.policy) || payload.value.grantsRevoked;
    case "approvalResolved":
      return payload.value.grant !== undefined;
    case "stepFailed":
      // A version from before takes the next in sequence.
      return payload.value.nextSource !== undefined && payload.value.nextSource !== "sequence";
    case "runCreated":
      return payload.value.overwritePolicy === OverwritePolicy.STRICT;
    default:
      return false;
  }
}

function isOfLoop(agent: AgentSpec | undefined): boolean {
  if (agent === undefined) return false;
  const { hooks, subAgents, fallbackModels, outputSchemaJson, errorRecovery, budget } = agent;
  if (hooks.length + subAgents.length + fallbackModels.length > 0) return true;
  return outputSchemaJson !== "" || errorRecovery > ErrorRecovery.RETURN || budget?.steps !== undefined;
}

function bindsByMode(policy: ToolPolicy | undefined): boolean {
  return policy !== undefined && ((policy.mode !== ToolMode.UNSPECIFIED && policy.mode !== ToolMode.ACT) || policy.rules.some(({ ruleKey }) => ruleKey !== ""));
}

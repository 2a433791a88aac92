import type { CreateSessionRequest } from "@forge/protocol/session";
import type { ToolPolicy } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { isStorable, isVisibleAscii } from "../text.ts";
import { policyProblem } from "../tool-policy.ts";
import { invalid } from "./rejections.ts";
import { DEPTH_MAX } from "./sub-agents/sub-agent.ts";
import { validateAgent } from "./validate-agent.ts";

const NAME_MAX = 128;
const LABELS_MAX = 32;
const TITLE_MAX = 256;
/** The first thing wrong with a request for a session, with its field; undefined where all is well. */
export function validateSession(request: CreateSessionRequest): Rejected | undefined {
  if (request.agent === undefined) return invalid("agent", "An agent is needed: at least its model.");
  return (
    validateAgent(request.agent, "agent") ??
    (request.policy === undefined ? undefined : validatePolicy(request.policy)) ??
    validateLabels(request.labels) ??
    validateQueue(request.queue) ??
    validateTitle(request.title) ??
    validateParent(request.parent) ??
    validateParentCall(request.parentCall)
  );
}

/** The first thing wrong with a policy, with its field; undefined where all is well. */
export function validatePolicy(policy: ToolPolicy): Rejected | undefined {
  const problem = policyProblem(policy);
  return problem === undefined ? undefined : invalid(problem.field, problem.message);
}

export function validateLabels(labels: Readonly<Record<string, string>>): Rejected | undefined {
  const entries = Object.entries(labels);
  if (entries.length > LABELS_MAX) return invalid("labels", `At most ${LABELS_MAX} labels.`);
  for (const [key, value] of entries) {
    if (key === "" || key.length > NAME_MAX || value.length > NAME_MAX || !isStorable(key) || !isStorable(value)) {
      return invalid("labels", `A label's key has 1 to ${NAME_MAX} characters, its value at most ${NAME_MAX}, neither with NUL.`);
    }
  }
  return undefined;
}

function validateQueue(queue: string): Rejected | undefined {
  if (queue === "" || (queue.length <= NAME_MAX && isVisibleAscii(queue))) return undefined;
  return invalid("queue", `A queue's name has at most ${NAME_MAX} visible ASCII characters.`);
}

export function validateTitle(title: string): Rejected | undefined {
  return title.length <= TITLE_MAX && isStorable(title) ? undefined : invalid("title", `A title has at most ${TITLE_MAX} characters without NUL.`);
}

function validateParent(parent: CreateSessionRequest["parent"]): Rejected | undefined {
  if (parent === undefined || (parent.runId !== "" && parent.stepId !== "")) return undefined;
  return invalid("parent", "A parent names both its run and its step.");
}

function validateParentCall(call: CreateSessionRequest["parentCall"]): Rejected | undefined {
  if (call === undefined) return undefined;
  if (call.sessionId === "" || call.toolCallId === "" || call.rootSessionId === "")
    return invalid("parent_call", "A parent call names its session, its call and its root.");
  return call.depth >= 1 && call.depth <= DEPTH_MAX ? undefined : invalid("parent_call.depth", `Sub-agents are at most ${DEPTH_MAX} deep.`);
}

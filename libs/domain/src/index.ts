// The contract of every aggregate.

export { concurrencyDecider } from "./concurrency/concurrency-decider.ts";
// Other folds.
export { type ConversationOptions, foldConversation } from "./conversation/fold-conversation.ts";
export type { Accepted, Context, Decider, Decision, EventDraft, Listing, Rejected, StreamKindName } from "./decider.ts";
// The languages of definitions: paths, expressions, templates; and what both ends of a definition share.
export type { Expression } from "./expression/expression.ts";
export { isReservedName } from "./expression/names.ts";
export { parseExpression } from "./expression/parse.ts";
export { type Reference, references } from "./expression/references.ts";
export { Ancestors } from "./graph/ancestors.ts";
export { cycleOf, type Needs } from "./graph/cycle-of.ts";
export { compileJsonSchema, type SchemaProblem } from "./json-schema/json-schema.ts";
// The aggregates.
export { checkDefinition } from "./run/check-definition.ts";
export { forkPoint } from "./run/fork-run.ts";
export { nearest } from "./run/nearest.ts";
export { replayRun, stateText } from "./run/replay.ts";
export { runDecider } from "./run/run-decider.ts";
export type { RunState } from "./run/state.ts";
export { itemNameProblem } from "./run/validate-for-each.ts";
export { runView } from "./run/view.ts";
export { workflowHash } from "./run/workflow-hash.ts";
export type { ForkFrom } from "./session/fork-from.ts";
export { SHIPPED_HOOKS } from "./session/hooks/shipped-hooks.ts";
export { isHookKey } from "./session/keys.ts";
export { sessionDecider } from "./session/session-decider.ts";
export type { SessionState } from "./session/state.ts";
export type { RewindTo, UndoThese } from "./session/undo-command.ts";
export { sessionView } from "./session/view.ts";
export { parseStatePath } from "./state-path/state-path.ts";
export type {
  Outstanding,
  OutstandingTask,
  TaskCommand,
  TaskLost,
  TaskReportedLate,
  TaskSettled,
  TaskStarted,
  TimerFired,
  TimerTask,
  WorkTask,
} from "./task.ts";
export { isTemplate, parseTemplate, type Template, templateReferences } from "./template/template.ts";
export { addUsage } from "./usage.ts";

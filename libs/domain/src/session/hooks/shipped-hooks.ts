import { create, type JsonValue } from "@bufbuild/protobuf";
import { type HookEdit, HookEditSchema } from "@forge/protocol/event";
import { HookAt, type HookSpec, MessageSchema, Role } from "@forge/protocol/session";
import { isStorable } from "../../text.ts";
import type { TurnState } from "../state.ts";

/** Hooks that the control plane itself answers, at once and without a worker. Each is a pure function of the turn. */

export const TOOL_ENFORCEMENT = "forge.tool_enforcement";
export const REMINDER = "forge.reminder";
export const REFLEXION = "forge.reflexion";

/** A hook's settings, as its spec has them. */
export type HookConfig = Readonly<Record<string, JsonValue>>;

/** A shipped hook: where it may be called, what its settings must be, and what it does. */
export interface ShippedHook {
  readonly at: HookAt;
  /** What is wrong with the settings; undefined where all is well. */
  problem(config: HookConfig): string | undefined;
  edits(turn: TurnState, config: HookConfig): HookEdit[];
}

const COUNT_MAX = 1_000;
const TEXT_MAX = 4_096;

const NUDGES_DEFAULT = 2;
const NUDGE =
  "You have tools, and your answer used none. If the task needs one, call it now instead of describing what you would do. If nothing is left to do, give the final answer.";

/** An answer that only talks: nothing was done in this turn, or the text announces what its author then does not do. */
const toolEnforcement: ShippedHook = {
  at: HookAt.POST_LLM,
  problem: (config) =>
    unknownKey(config, ["max_nudges", "message"]) ?? countProblem(config, "max_nudges", 0) ?? textProblem(config, "message", { isRequired: false }),
  edits(turn, config) {
    const { answer, hooks } = turn;
    if (answer === undefined || answer.toolCallCount > 0 || turn.tools.length === 0) return [];
    if (hooks.nudges >= count(config, "max_nudges", NUDGES_DEFAULT)) return [];
    if (turn.toolCallCount > 0 && !answer.announcesAction) return [];
    return [say(Role.USER, text(config, "message", NUDGE)), create(HookEditSchema, { kind: { case: "goOn", value: true } })];
  },
};

/** Says the same thing again before every so many model calls, or once after so many. */
const reminder: ShippedHook = {
  at: HookAt.PRE_LLM,
  problem: (config) =>
    unknownKey(config, ["text", "every_model_calls", "after_model_calls"]) ??
    textProblem(config, "text", { isRequired: true }) ??
    countProblem(config, "every_model_calls", 1) ??
    countProblem(config, "after_model_calls", 0) ??
    (config["every_model_calls"] !== undefined && config["after_model_calls"] !== undefined
      ? "`every_model_calls` and `after_model_calls` are one or the other"
      : undefined),
  edits(turn, config) {
    const calls = turn.modelCallCount;
    const isDue =
      config["after_model_calls"] === undefined ? (calls + 1) % count(config, "every_model_calls", 1) === 0 : calls === count(config, "after_model_calls", 0);
    return isDue ? [say(Role.SYSTEM, text(config, "text", ""))] : [];
  },
};

const FAILURES_DEFAULT = 2;
const REFLECTION =
  "Several tool calls in a row have failed. Before you try again, say in a sentence or two what went wrong and what you will do differently; do not repeat a call that failed unchanged.";

/** After tools failed several times in a row, asks for the cause before the next try. */
const reflexion: ShippedHook = {
  at: HookAt.PRE_LLM,
  problem: (config) =>
    unknownKey(config, ["after_failures", "message"]) ?? countProblem(config, "after_failures", 1) ?? textProblem(config, "message", { isRequired: false }),
  edits(turn, config) {
    if (turn.hooks.failuresInRow < count(config, "after_failures", FAILURES_DEFAULT)) return [];
    return [say(Role.USER, text(config, "message", REFLECTION))];
  },
};

/** By name. */
export const SHIPPED_HOOKS: ReadonlyMap<string, ShippedHook> = new Map([
  [TOOL_ENFORCEMENT, toolEnforcement],
  [REMINDER, reminder],
  [REFLEXION, reflexion],
]);

/** A hook's settings; undefined where they are no JSON object. None are an empty one. */
export function hookConfig({ configJson }: HookSpec): HookConfig | undefined {
  if (configJson === "") return {};
  try {
    const config = JSON.parse(configJson) as JsonValue;
    return typeof config === "object" && config !== null && !Array.isArray(config) ? config : undefined;
  } catch {
    // The parser's own words quote the text and differ between versions.
    return undefined;
  }
}

function say(role: Role, words: string): HookEdit {
  const parts = [{ kind: { case: "text" as const, value: { text: words } } }];
  return create(HookEditSchema, { kind: { case: "addMessage", value: create(MessageSchema, { role, parts, ephemeral: true }) } });
}

function text(config: HookConfig, key: string, otherwise: string): string {
  const value = config[key];
  return typeof value === "string" ? value : otherwise;
}

function count(config: HookConfig, key: string, otherwise: number): number {
  const value = config[key];
  return typeof value === "number" ? value : otherwise;
}

function unknownKey(config: HookConfig, known: readonly string[]): string | undefined {
  const key = Object.keys(config).find((name) => !known.includes(name));
  return key === undefined ? undefined : `there is no setting ${JSON.stringify(key)}; there are ${known.join(", ")}`;
}

function countProblem(config: HookConfig, key: string, min: number): string | undefined {
  const value = config[key];
  if (value === undefined || (typeof value === "number" && Number.isInteger(value) && value >= min && value <= COUNT_MAX)) return undefined;
  return `\`${key}\` is a whole number from ${min} to ${COUNT_MAX}`;
}

function textProblem(config: HookConfig, key: string, { isRequired }: { readonly isRequired: boolean }): string | undefined {
  const value = config[key];
  if (value === undefined && !isRequired) return undefined;
  if (typeof value === "string" && value.trim() !== "" && value.length <= TEXT_MAX && isStorable(value)) return undefined;
  return `\`${key}\` is a text of 1 to ${TEXT_MAX} characters`;
}

import { durationMs } from "@bufbuild/protobuf/wkt";
import { HookAt, HookAtSchema, type HookSpec } from "@forge/protocol/session";
import type { Rejected } from "../../decider.ts";
import { isStorable, isVisibleAscii, utf8Length } from "../../text.ts";
import { invalid } from "../rejections.ts";
import { type HookConfig, hookConfig, SHIPPED_HOOKS } from "./shipped-hooks.ts";

const HOOKS_MAX = 16;
const NAME_MAX = 128;
const CONFIG_BYTES_MAX = 4_096;
const TIMEOUT_MS_MAX = 5 * 60_000;

/** Names of hooks that the control plane itself serves begin so. */
const SHIPPED_PREFIX = "forge.";

/** The first thing wrong with an agent's hooks, with its field; undefined where all is well. */
export function validateHooks(hooks: readonly HookSpec[], within: string): Rejected | undefined {
  if (hooks.length > HOOKS_MAX) return invalid(within, `An agent has at most ${HOOKS_MAX} hooks.`);
  for (const [index, hook] of hooks.entries()) {
    const wrong = validateHook(hook, `${within}[${index}]`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function validateHook(hook: HookSpec, field: string): Rejected | undefined {
  const { name, at } = hook;
  if (name.length > NAME_MAX || !isVisibleAscii(name)) return invalid(`${field}.name`, `A hook's name has 1 to ${NAME_MAX} visible ASCII characters.`);
  if (at.length === 0) return invalid(`${field}.at`, "A hook is called somewhere: at USER_MESSAGE, PRE_LLM or POST_LLM.");
  for (const [index, point] of at.entries()) {
    if (point === HookAt.UNSPECIFIED || HookAtSchema.value[point] === undefined)
      return invalid(`${field}.at[${index}]`, "A hook is called at USER_MESSAGE, PRE_LLM or POST_LLM.");
    if (at.indexOf(point) !== index) return invalid(`${field}.at[${index}]`, "The point is named twice.");
  }
  if (hook.timeout !== undefined) {
    const timeoutMs = durationMs(hook.timeout);
    if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX)) return invalid(`${field}.timeout`, "A hook takes more than no time and at most 5 minutes.");
  }
  if (utf8Length(hook.configJson) > CONFIG_BYTES_MAX || !isStorable(hook.configJson)) return invalid(`${field}.config_json`, "Settings have at most 4 KiB.");
  const config = hookConfig(hook);
  if (config === undefined) return invalid(`${field}.config_json`, "Settings are a JSON object.");
  return name.startsWith(SHIPPED_PREFIX) ? validateShipped(hook, config, field) : undefined;
}

function validateShipped({ name, at }: HookSpec, config: HookConfig, field: string): Rejected | undefined {
  const shipped = SHIPPED_HOOKS.get(name);
  if (shipped === undefined) return invalid(`${field}.name`, `There is no hook ${name}; shipped are ${[...SHIPPED_HOOKS.keys()].join(", ")}.`);
  if (at.length !== 1 || at[0] !== shipped.at)
    return invalid(`${field}.at`, `${name} is called at ${HookAtSchema.value[shipped.at]?.name ?? shipped.at} and nowhere else.`);
  const problem = shipped.problem(config);
  return problem === undefined ? undefined : invalid(`${field}.config_json`, `In the settings of ${name}, ${problem}.`);
}

import { HOOK_POINTS, type HookChange, type HookPoint } from "@forge/worker";
import type { HookContext } from "./context.ts";
import { checkName, DEFINITION, type HookDefinition, invalidDefinition } from "./definition.ts";

/** What a hook is made of. */
export interface HookOptions {
  /** As agents name it, for example my.redact: 1 to 128 of letters, digits, `.`, `_` and `-`. Names that begin with forge. are Forge's own. */
  readonly name: string;
  /** Where it can be called; an agent that names it elsewhere gets an error. */
  readonly at: readonly HookPoint[];
  /** Resolves with what is to be changed: nothing, one change or at most 16. What it throws fails the hook: before a model call the turn ends with that. */
  run(context: HookContext): HookAnswer | Promise<HookAnswer>;
}

/** What a hook may answer with. */
export type HookAnswer = HookChange | readonly HookChange[] | undefined | void;

/** A hook that agents may name. Errors: validation, DEFINITION, naming the field. */
export function defineHook(options: HookOptions): HookDefinition {
  const { name, at } = options;
  checkName("hook", name, /^[\w.-]{1,128}$/, "1 to 128 of letters, digits, dots, underscores and hyphens");
  if (name.startsWith("forge.")) throw invalidDefinition("name", `hook ${name}: names that begin with forge. are Forge's own`);
  if (at.length === 0 || !at.every((point) => Object.hasOwn(HOOK_POINTS, point)))
    throw invalidDefinition("at", `hook ${name}: at is one or more of ${Object.keys(HOOK_POINTS).join(", ")}`);
  return { [DEFINITION]: "hook", name, at: [...at], run: (context) => options.run(context) };
}

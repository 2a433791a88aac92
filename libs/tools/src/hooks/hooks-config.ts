import { parse, TomlError } from "smol-toml";
import { z } from "zod";

/** Where a hook of a project or a person is called. */
export type HookEvent = "on_user_message" | "on_pre_llm" | "on_post_llm" | "before_tool" | "after_tool" | "on_turn_end";

/** A program that is called at points of an agent's work. */
export interface ProjectHook {
  /** As agents and people name it: project.<name> or user.<name>. */
  readonly name: string;
  readonly at: readonly HookEvent[];
  /** An argument vector; a path in it is relative to the workspace. */
  readonly command: readonly string[];
  /** Of before_tool and after_tool: names of tools, or prefixes that end with `*`; absent: all. */
  readonly tools?: readonly string[];
  readonly timeoutMs: number;
}

/** Something in a file that is not used, with the place. */
export interface HookProblem {
  readonly message: string;
  readonly file: string;
  readonly line: number;
}

/** What a file says. A file with a problem in it gives no hooks at all: one that was to deny something must not be missed in silence. */
export interface HooksConfig {
  readonly hooks: readonly ProjectHook[];
  readonly problems: readonly HookProblem[];
}

/** Whose file it is. */
export type HookScope = "project" | "user";

const FILE_LENGTH_MAX = 256 * 1024;
const HOOKS_MAX = 32;
const TIMEOUT_SECONDS_DEFAULT = 10;
/** As the control plane has it for its own calls of hooks. */
const TIMEOUT_SECONDS_MAX = 300;

const Hook = z.strictObject({
  name: z.string().regex(/^[a-z0-9_-]{1,64}$/, "must be 1 to 64 of lower-case letters, digits, _ and -"),
  at: z
    .array(z.enum(["on_user_message", "on_pre_llm", "on_post_llm", "before_tool", "after_tool", "on_turn_end"]))
    .min(1)
    .max(6),
  command: z.array(z.string().min(1).max(4096)).min(1).max(64),
  tools: z
    .array(
      z
        .string()
        .regex(/^[A-Za-z0-9_.-]{0,128}\*?$/, "must be a tool's name, or a prefix with * at its end")
        .min(1),
    )
    .min(1)
    .max(64)
    .optional(),
  timeout_seconds: z.number().positive().max(TIMEOUT_SECONDS_MAX).default(TIMEOUT_SECONDS_DEFAULT),
});

const File = z.strictObject({ hook: z.array(z.unknown()).max(HOOKS_MAX).default([]) });

/** Reads the text of a hooks.toml: tables `[[hook]]`. `file` is how the file is named in what is said about it. */
export function parseHooks(text: string, file: string, scope: HookScope = "project"): HooksConfig {
  const problem = (line: number, message: string): HooksConfig => ({ hooks: [], problems: [{ message: `${file}:${line}: ${message}`, file, line }] });
  if (text.length > FILE_LENGTH_MAX) return problem(1, `has more than ${FILE_LENGTH_MAX} characters`);
  let toml: unknown;
  try {
    toml = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return problem(error.line, `is not TOML: ${error.message.split("\n")[0]}`);
  }
  const whole = File.safeParse(toml);
  if (!whole.success) return problem(1, described(whole.error));
  const hooks: ProjectHook[] = [];
  for (const [index, entry] of whole.data.hook.entries()) {
    const parsed = Hook.safeParse(entry);
    if (!parsed.success) return problem(lineOf(text, index, parsed.error.issues[0]?.path[0]), described(parsed.error));
    const { name, at, command, tools, timeout_seconds } = parsed.data;
    if (tools !== undefined && !at.some((event) => event === "before_tool" || event === "after_tool")) {
      return problem(lineOf(text, index, "tools"), "tools: only before_tool and after_tool are about tools");
    }
    const hook = { name: `${scope}.${name}`, at, command, tools, timeoutMs: timeout_seconds * 1000 };
    if (hooks.some((other) => other.name === hook.name)) return problem(lineOf(text, index, "name"), `name: there are two hooks ${name}`);
    hooks.push(hook);
  }
  return { hooks, problems: [] };
}

function described({ issues }: z.ZodError): string {
  const [issue] = issues;
  return `${issue?.path.join(".") || "the file"}: ${issue?.message}`;
}

/** Hooks of several files, in order: those of the first are called first. */
export function joinHooks(configs: readonly HooksConfig[]): HooksConfig {
  return { hooks: configs.flatMap(({ hooks }) => hooks), problems: configs.flatMap(({ problems }) => problems) };
}

/** The line of a key in the n-th table; the parser keeps no places. */
function lineOf(text: string, index: number, key: PropertyKey | undefined): number {
  const lines = text.split("\n");
  let tables = -1;
  let header = 1;
  for (const [at, line] of lines.entries()) {
    if (/^\s*\[/.test(line)) {
      if (tables === index) break;
      if (/^\s*\[\[\s*hook\s*\]\]/.test(line)) tables++;
      header = at + 1;
    }
    if (tables === index && key !== undefined && line.trimStart().split(/[\s=]/, 1)[0] === key) return at + 1;
  }
  return header;
}

/** Whether a hook is about a tool. */
export function isAbout({ tools }: Pick<ProjectHook, "tools">, tool: string): boolean {
  return tools === undefined || tools.some((entry) => (entry.endsWith("*") ? tool.startsWith(entry.slice(0, -1)) : entry === tool));
}

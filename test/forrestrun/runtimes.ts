import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { pythonWithForge } from "../harness/python.ts";

const PROJECT = fileURLToPath(new URL("./project/", import.meta.url));
/** Beside it, what ForrestRun itself would not survive. */
const HOSTILE = fileURLToPath(new URL("./hostile/", import.meta.url));
const RUN = fileURLToPath(new URL("./forrestrun_run.py", import.meta.url));
const FORGE = fileURLToPath(new URL("../../apps/cli/src/main.js", import.meta.url));
const RUN_MS_MAX = 120_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** One execution of a step, as both runtimes tell it. */
export interface Step {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly input: unknown;
  readonly output: unknown;
  readonly error: string;
  /** What followed it; null where nothing did. */
  readonly next: string | null;
}

/** What became of a run. */
export interface Ran {
  /** Undefined where nothing was started. */
  readonly status: string | undefined;
  readonly steps: readonly Step[];
  /** The state at the end, without what each runtime knows of itself. */
  readonly state: { readonly inputs: unknown; readonly steps: unknown } | undefined;
  /** What was said instead of running. */
  readonly refusal: string;
}

/** A copy of a project that one of the runtimes works in. */
export interface Runtime extends AsyncDisposable {
  readonly root: string;
  /** `words` are a workflow, and inputs as on both command lines. */
  run(...words: readonly string[]): Promise<Ran>;
}

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

interface KeptRun {
  readonly failure: string | null;
  readonly run: { readonly status: string; readonly error: string | null } | null;
  readonly steps: readonly {
    readonly step_id: string;
    readonly status: string;
    readonly attempts: number;
    readonly input: Json;
    readonly output: Json;
    readonly error: string | null;
    readonly next_step_resolved: string | null;
  }[];
  readonly states: readonly { readonly state: { readonly inputs: Json; readonly steps: Json } }[];
}

/** The package forrestrun itself. */
export async function openForrestRun(environment: Readonly<Record<string, string>> = {}): Promise<Runtime> {
  const [root, python] = await Promise.all([copyOf(PROJECT), pythonWithForge()]);
  const env = { OPENAI_API_KEY: "a-key", ...environment };
  return {
    root,
    run: async (...words) => {
      const { stdout, stderr } = await execute(python, [RUN, "run", ...words], root, env);
      if (!stdout.startsWith("{")) throw new Error(`forrestrun could not be run: ${stderr}`);
      const { failure, run, steps, states } = JSON.parse(stdout) as KeptRun;
      return {
        status: run?.status,
        refusal: failure ?? "",
        steps: steps.map((step) => ({
          id: step.step_id,
          status: step.status,
          attempts: step.attempts,
          input: withoutRuntime(step.input),
          output: step.output,
          error: step.error ?? "",
          next: step.next_step_resolved,
        })),
        state: stateOf(states.at(-1)?.state),
      };
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

interface ValueJson {
  readonly json?: string;
}

interface RunJson {
  readonly status: string;
  readonly inputs?: ValueJson;
  readonly steps?: readonly {
    readonly step_id: string;
    readonly status: string;
    readonly attempt_count: number;
    readonly input?: Readonly<Record<string, ValueJson>>;
    readonly output?: ValueJson;
    readonly error?: { readonly message: string };
    readonly next_step_id?: string;
  }[];
}

/** Forge, whose server ends with it; `python` is the interpreter of the project's code. */
export async function openForge(python: string, environment: Readonly<Record<string, string>> = {}): Promise<Runtime> {
  const root = await copyOf(PROJECT, HOSTILE);
  const env = { OPENAI_API_KEY: "a-key", FORGE_PYTHON: python, DATABASE_URL: "", CI: "", NO_COLOR: "1", ...environment };
  const forge = (words: readonly string[]) => execute(process.execPath, [FORGE, ...words], root, env);
  return {
    root,
    run: async (...words) => {
      const { stdout, stderr } = await forge(["run", ...words, "--json"]);
      const lines = stdout.split("\n").filter((line) => line.startsWith('{"run":'));
      const run = lines.length === 0 ? undefined : (JSON.parse(lines.at(-1) as string) as { run: RunJson }).run;
      const steps = run?.steps ?? [];
      const outputs = Object.fromEntries(steps.flatMap(({ step_id, output }) => (output === undefined ? [] : [[step_id, valueOf(output)]])));
      return {
        status: run?.status,
        refusal: run === undefined ? stderr || stdout : "",
        steps: steps.map((step) => ({
          id: step.step_id,
          status: step.status,
          attempts: step.attempt_count,
          input: withoutRuntime(Object.fromEntries(Object.entries(step.input ?? {}).map(([name, value]) => [name, valueOf(value)]))),
          output: step.output === undefined ? null : valueOf(step.output),
          error: step.error?.message ?? "",
          next: step.next_step_id || null,
        })),
        state: run === undefined ? undefined : { inputs: valueOf(run.inputs ?? {}), steps: outputs },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await forge(["down", "--drain", "0ms"]);
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Runs a program to its end, however that is. */
export function execute(
  file: string,
  words: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...environment }, timeout: RUN_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX };
    execFile(file, words, options, (_, stdout, stderr) => resolve({ stdout, stderr })).stdin?.end();
  });
}

function valueOf({ json }: ValueJson): Json {
  return json === undefined ? null : (JSON.parse(json) as Json);
}

function stateOf(state: { readonly inputs: Json; readonly steps: Json } | undefined): Ran["state"] {
  return state === undefined ? undefined : { inputs: state.inputs, steps: state.steps };
}

/** What is below a runtime's own name in a state is its own. */
function withoutRuntime(value: Json): { [key: string]: Json } {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => name !== "runtime"));
}

async function copyOf(...directories: readonly string[]): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), "forge-forrestrun-"));
  for (const directory of directories) await cp(directory, root, { recursive: true, filter: (file) => !file.includes("__pycache__") });
  return root;
}

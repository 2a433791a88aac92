import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { create } from "@bufbuild/protobuf";
import { CapabilityKind, CapabilitySchema } from "@forge/protocol/worker";
import type { TaskHandler } from "@forge/worker";
import { childEnvironment } from "../process/environment.ts";
import type { Isolation } from "../process/isolation.ts";
import { nodeCommand, pythonCommand, pythonProblem } from "./child-commands.ts";
import { type DiscoveredFunction, type DiscoveryError, discoverFunctions } from "./discover-functions.ts";
import { discoverTools } from "./discover-tools.ts";
import type { Language } from "./function-files.ts";
import { type FunctionLogLine, functionHandler } from "./function-handler.ts";
import { FunctionPool } from "./function-pool.ts";
import { FunctionProcess } from "./function-process.ts";
import { pythonToolHandler } from "./python-tool-handler.ts";
import type { ReadRun } from "./run-state.ts";

/** More processes than cores help only functions that wait; more than this is rarely worth their memory (about 50 MB each). */
const POOL_SIZE_MAX = 8;
const HEAP_MIB_MAX = 512;

/** Where the functions are, and how they run. */
export interface FunctionHandlersOptions {
  /** The project's `functions/`; functions run in the directory that holds it. */
  readonly functionsDirectory: string;
  /** The project's `tools/`, whose files of Python are served; absent: none are. */
  readonly toolsDirectory?: string;
  /** The interpreter of the project's Python; absent: python3. */
  readonly python?: string;
  /** Where functions and tools of Python run, and modules are looked for first; absent: the directory that holds `functionsDirectory`. */
  readonly pythonRoot?: string;
  /** Added to what functions and tools of Python see, as the project's `.env` has it. */
  readonly pythonEnvironment?: Readonly<Record<string, string>>;
  /** For Python that looks at the run's state beside its inputs; absent: it can't. */
  readonly readRun?: ReadRun;
  /** Added to what functions see; they never inherit more than PATH, HOME and the like. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Calls at once, of each language; absent: one per core, at least 2, at most 8. */
  readonly poolSize?: number;
  /** Of each process's JavaScript heap, in MiB; absent: 512. */
  readonly heapMibMax?: number;
  /** Gets what functions print; absent: it is dropped. */
  readonly log?: (line: FunctionLogLine) => void;
  /** Absent: the strongest that works here. */
  readonly isolation?: Isolation;
}

/** The project's functions and tools, served. */
export interface FunctionHandlers {
  readonly handlers: TaskHandler[];
  /** Files whose functions or tools are not served. */
  readonly errors: DiscoveryError[];
  /** Ends the processes; until then they keep this one alive. */
  close(): Promise<void>;
}

/**
 * Serves the functions of a project's `functions/` directory, in JavaScript and Python, and the tools in Python of its `tools/`. They run in child processes, which
 * are kept warm, end with this process, and are replaced after a crash, an interruption, or a change of a file that they have loaded. A project without Python
 * starts none.
 */
export async function createFunctionHandlers(options: FunctionHandlersOptions): Promise<FunctionHandlers> {
  const directory = resolve(options.functionsDirectory);
  const { readRun, log = () => {} } = options;
  const pools = new Pools(dirname(directory), options);
  try {
    const { functions, errors } = await discoverFunctions(directory, pools.of);
    const found = options.toolsDirectory === undefined ? { tools: [], errors: [] } : await discoverTools(resolve(options.toolsDirectory), pools.of);
    const handlers = functions.map((served) => functionHandler(served, { pool: pools.started(served.language), log, readRun }));
    const tools = found.tools.map((served) => pythonToolHandler(served, { pool: pools.started("python"), log, readRun }));
    return { handlers: [...handlers, ...shortNames(functions, handlers), ...tools], errors: [...errors, ...found.errors], close: () => pools.close() };
  } catch (error) {
    await pools.close();
    throw error;
  }
}

/** A function of Python is also served under its name alone, where no other has it. */
function shortNames(functions: readonly DiscoveredFunction[], handlers: readonly TaskHandler[]): TaskHandler[] {
  return functions.flatMap(({ exportName, language }, index) => {
    const isOnly = functions.filter((other) => other.exportName === exportName).length === 1;
    const handler = handlers[index];
    if (language !== "python" || !isOnly || handler === undefined) return [];
    return [{ capability: create(CapabilitySchema, { kind: CapabilityKind.FUNCTION, name: exportName }), run: (context) => handler.run(context) }];
  });
}

/** The processes of each language; none are started before the first file of it is found. */
class Pools {
  readonly #holder: string;
  readonly #options: FunctionHandlersOptions;
  readonly #size: number;
  readonly #pools = new Map<Language, FunctionPool>();
  #pythonProblem: Promise<string | undefined> | undefined;

  /** `holder` is the directory that holds the functions'. */
  constructor(holder: string, options: FunctionHandlersOptions) {
    this.#holder = holder;
    this.#options = options;
    this.#size = options.poolSize ?? Math.min(Math.max(availableParallelism(), 2), POOL_SIZE_MAX);
  }

  readonly of = async (language: Language): Promise<FunctionPool | string> => {
    const { python = "python3", pythonEnvironment, environment, heapMibMax = HEAP_MIB_MAX } = this.#options;
    if (language === "javascript") return this.#pool(language, nodeCommand(heapMibMax), this.#holder, environment);
    const root = resolve(this.#options.pythonRoot ?? this.#holder);
    const seen = { ...environment, ...pythonEnvironment };
    this.#pythonProblem ??= pythonProblem(python, childEnvironment(seen));
    return (await this.#pythonProblem) ?? this.#pool(language, pythonCommand(python, root), root, seen);
  };

  /** The pool of a language that something was found in. */
  started(language: Language): FunctionPool {
    return this.#pools.get(language) as FunctionPool;
  }

  async close(): Promise<void> {
    for (const pool of this.#pools.values()) await pool.close();
  }

  #pool(language: Language, command: readonly string[], cwd: string, environment: Readonly<Record<string, string>> = {}): FunctionPool {
    const known = this.#pools.get(language);
    if (known !== undefined) return known;
    const { isolation } = this.#options;
    const pool = new FunctionPool(this.#size, () => FunctionProcess.start({ command, cwd, environment, isolation }));
    this.#pools.set(language, pool);
    return pool;
  }
}

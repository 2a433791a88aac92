import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import type { TaskHandler } from "@forge/worker";
import type { Isolation } from "../process/isolation.ts";
import { type DiscoveryError, discoverFunctions } from "./discover-functions.ts";
import { type FunctionLogLine, functionHandler } from "./function-handler.ts";
import { FunctionPool } from "./function-pool.ts";
import { FunctionProcess } from "./function-process.ts";

/** More processes than cores help only functions that wait; more than this is rarely worth their memory (about 50 MB each). */
const POOL_SIZE_MAX = 8;
const HEAP_MIB_MAX = 512;

/** Where the functions are, and how they run. */
export interface FunctionHandlersOptions {
  /** The project's `functions/`; functions run in the directory that holds it. */
  readonly functionsDirectory: string;
  /** Added to what functions see; they never inherit more than PATH, HOME and the like. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Calls at once; absent: one per core, at least 2, at most 8. */
  readonly poolSize?: number;
  /** Of each process's JavaScript heap, in MiB; absent: 512. */
  readonly heapMibMax?: number;
  /** Gets what functions print; absent: it is dropped. */
  readonly log?: (line: FunctionLogLine) => void;
  /** Absent: the strongest that works here. */
  readonly isolation?: Isolation;
}

/** The project's functions, served. */
export interface FunctionHandlers {
  readonly handlers: TaskHandler[];
  /** Files whose functions are not served. */
  readonly errors: DiscoveryError[];
  /** Ends the processes; until then they keep this one alive. */
  close(): Promise<void>;
}

/**
 * Serves the exported functions of a project's `functions/` directory. They run in child processes, which are kept warm, end with this process, and are
 * replaced after a crash, an interruption, or a change of a file that they have loaded.
 */
export async function createFunctionHandlers(options: FunctionHandlersOptions): Promise<FunctionHandlers> {
  const directory = resolve(options.functionsDirectory);
  const { environment = {}, heapMibMax = HEAP_MIB_MAX, isolation, log = () => {} } = options;
  const size = options.poolSize ?? Math.min(Math.max(availableParallelism(), 2), POOL_SIZE_MAX);
  const pool = new FunctionPool(size, () => FunctionProcess.start({ cwd: dirname(directory), environment, heapMibMax, isolation }));
  try {
    const { functions, errors } = await discoverFunctions(directory, pool);
    return { handlers: functions.map((served) => functionHandler(served, pool, log)), errors, close: () => pool.close() };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

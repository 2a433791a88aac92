import { basename } from "node:path";
import { askFile, type DiscoveryError, messageOf, type PoolOf } from "./discover-functions.ts";
import { pythonFiles } from "./function-files.ts";

/** A tool that a file of Python has. */
export interface DiscoveredTool {
  readonly file: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: { readonly [key: string]: unknown };
  readonly idempotent: boolean;
  readonly risk: "read" | "change" | "execute";
  /** Seconds of one call with all its attempts; null: no bound of its own. */
  readonly timeout: number | null;
}

interface Described {
  readonly tools: readonly Omit<DiscoveredTool, "file">[];
  readonly errors: readonly string[];
}

/** As a worker may register one. */
const NAME = /^[\x21-\x7e]{1,128}$/;
const DESCRIPTION_LENGTH_MAX = 4_096;
const SCHEMA_BYTES_MAX = 16 * 1024;

/**
 * The tools of a directory's files of Python, those below it not included: classes of their own with a name, a description, an input_schema and an execute, that
 * don't begin with an underscore. The files' code runs in a child process. Of two tools of one name the later file's is served. A missing directory has none.
 */
export async function discoverTools(directory: string, poolOf: PoolOf): Promise<{ tools: DiscoveredTool[]; errors: DiscoveryError[] }> {
  const tools = new Map<string, DiscoveredTool>();
  const errors: DiscoveryError[] = [];
  for (const { file } of await pythonFiles(directory, 0)) {
    try {
      const pool = await poolOf("python");
      if (typeof pool === "string") throw new Error(pool);
      const described = await askFile<Described>(file, pool, (process, signal) => process.describeTools(file, signal), "tool");
      for (const message of described.errors) errors.push({ file, message });
      for (const tool of described.tools) {
        const problem = problemOf(tool);
        const other = tools.get(tool.name);
        if (problem !== undefined) errors.push({ file, message: problem });
        else tools.set(tool.name, { ...tool, file });
        if (problem === undefined && other !== undefined) errors.push({ file: other.file, message: `${tool.name} is served from ${basename(file)}` });
      }
    } catch (error) {
      errors.push({ file, message: messageOf(error) });
    }
  }
  return { tools: Array.from(tools.values()), errors };
}

function problemOf({ name, description, schema }: Described["tools"][number]): string | undefined {
  if (!NAME.test(name)) return `a tool's name must be 1 to 128 visible ASCII characters, not ${JSON.stringify(name.slice(0, 40))}`;
  if (description.length > DESCRIPTION_LENGTH_MAX) return `the description of ${name} has ${description.length} characters: at most ${DESCRIPTION_LENGTH_MAX}`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes > SCHEMA_BYTES_MAX ? `the input_schema of ${name} has ${bytes} bytes: at most ${SCHEMA_BYTES_MAX}` : undefined;
}

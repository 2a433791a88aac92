import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const CONFIG_BYTES_MAX = 262_144;
const DATABASE_URL = /^postgres(?:ql)?:\/\//;
/** A database file, as `db_path` named one before there was a directory. */
const DATABASE_FILE = /\.(?:db|sqlite3?)$/;
/** What `db_path` was by default then: it says no more than that the default is meant. */
const DATABASE_FILE_DEFAULT = "runtime.db";
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Where everything durable of a project lies that is not in a database of its own, by what its `db_path` says: absent, a URL and `runtime.db` mean `.forge/data`. */
export function dataDirectory(root: string, dbPath: string | undefined): string {
  if (dbPath === undefined || DATABASE_URL.test(dbPath) || dbPath === DATABASE_FILE_DEFAULT) return join(root, ".forge", "data");
  return resolve(root, DATABASE_FILE.test(dbPath) ? `${dbPath}.forge` : dbPath);
}

/**
 * The same for a project whose configuration has not been read: for commands that have to know it before everything else, and read it again, and check it,
 * once they need more. What can't be read has the default here; whoever loads the configuration says what is wrong with it.
 */
export function findDataDirectory(root: string, environment: Readonly<Record<string, string | undefined>>): string {
  const overlay = environment.RUNTIME_ENV;
  const names = ["runtime.yaml", ...(overlay !== undefined && /^[\w-]{1,64}$/.test(overlay) ? [`runtime.${overlay}.yaml`] : [])];
  const found = names.map((name) => dbPathIn(join(root, name))).findLast((dbPath) => dbPath !== undefined);
  return dataDirectory(
    root,
    found?.replaceAll(VARIABLE, (whole, name: string) => environment[name] ?? whole),
  );
}

/** A field at the root, on a line of its own: in quotation marks, or plain up to a comment. */
const DB_PATH = /^\uFEFF?db_path[ \t]*:[ \t]+(?:"([^"\\\r\n]*)"|'([^'\r\n]*)'|([^\s"'|>&*!%@`[{#][^\r\n]*?))[ \t]*(?:[ \t]#[^\r\n]*)?$/m;

function dbPathIn(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    // There is none, or nobody may read it.
    return undefined;
  }
  if (text.length > CONFIG_BYTES_MAX) return undefined;
  // No parser: loading one would take longer than what most commands do. `openProject` refuses what is written so that the two don't agree.
  const [, double, single, plain] = DB_PATH.exec(text.replaceAll("\r\n", "\n")) ?? [];
  return (double ?? single ?? plain) || undefined;
}

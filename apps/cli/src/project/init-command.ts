import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { trustOf } from "../agent/workspace-trust.ts";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { TEMPLATE } from "./template.ts";

/** `forge init`: a new project with one working example, in a directory that is new or empty. */
export async function initCommand({ terminal, directory, environment }: Context, name: string | undefined, options: CommonOptions): Promise<number> {
  const root = path.resolve(directory, name ?? ".");
  const before = await contentOf(root);
  // Version control may have been there first.
  const inTheWay = (before ?? []).filter((entry) => entry !== ".git");
  if (inTheWay.length > 0) {
    const shown = inTheWay.slice(0, 5).join(", ");
    throw new ForgeError(ErrorCode.CONFLICT, `${root} is not empty (${shown}): name a new directory, as in \`npx forge init my-project\``, {
      reason: "DIRECTORY_NOT_EMPTY",
      metadata: { file: root },
    });
  }
  if (before === undefined) await createWhole(root);
  else await writeFiles(root);
  // All of it was written by this very command.
  const trust = await trustOf(environment);
  await trust.trust(root, (await trust.readTrust(root)).digest);
  const files = Object.keys(TEMPLATE);
  if (options.json === true) {
    terminal.print(JSON.stringify({ project: root, files }));
    return EXIT.OK;
  }
  const { style } = terminal;
  const shown = path.relative(directory, root) || ".";
  for (const file of files) terminal.print(`${style.green("+")} ${path.join(shown, file)}`);
  const prefix = shown === "." ? "" : `cd ${shown} && `;
  terminal.print(`\n${style.bold("Next")}\n  ${prefix}npx forge run hello -i name=Ada\n  ${prefix}npx forge check`);
  return EXIT.OK;
}

/** What is in a directory; undefined where it does not exist. */
async function contentOf(root: string): Promise<string[] | undefined> {
  try {
    return await readdir(root);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw ForgeError.validation("directory", code === "ENOTDIR" ? `${root} is a file: name a new directory` : `${root} can't be read: ${message}`, {
      metadata: { file: root },
      cause: error,
    });
  }
}

/** A new directory is there whole or not at all. */
async function createWhole(root: string): Promise<void> {
  const fresh = `${root}.${process.pid}.new`;
  try {
    await writeFiles(fresh);
    await rename(fresh, root);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    const problem = error instanceof Error ? error.message : String(error);
    throw ForgeError.validation("directory", `${root} can't be made: ${problem}`, { metadata: { file: root }, cause: error });
  }
}

async function writeFiles(root: string): Promise<void> {
  for (const [file, text] of Object.entries(TEMPLATE)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text, { flag: "wx" });
  }
}

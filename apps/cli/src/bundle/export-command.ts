import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../output/format-bytes.ts";
import { oneLine } from "../output/text.ts";
import { openNamedProject } from "../project/open-named-project.ts";
import { collectFiles } from "./collect-files.ts";
import { writeBundle } from "./write-bundle.ts";

export interface ExportOptions extends CommonOptions {
  /** Puts the bundle in the place of a file that is there. */
  readonly force?: boolean;
}

/** `forge export`: a project's files as one .tar.gz, without secrets and without data; what was left out is told. */
export async function exportCommand(context: Context, file: string | undefined, options: ExportOptions): Promise<number> {
  const { terminal, directory } = context;
  const project = await openNamedProject(context, options.project);
  const { files, leftOut } = await collectFiles(project);
  if (files.length === 0) {
    throw new ForgeError(
      ErrorCode.NOT_FOUND,
      `there is nothing to export in ${project.root}: no runtime.yaml, workflows, agents, functions, tools or prompts`,
      {
        reason: "PROJECT_EMPTY",
        metadata: { file: project.root },
      },
    );
  }
  const bundle = await writeBundle(files);
  const target = path.resolve(directory, file ?? `${project.name}.tar.gz`);
  await writeWhole(target, bundle, options.force === true);
  const sha256 = createHash("sha256").update(bundle).digest("hex");
  if (options.json === true) {
    terminal.print(JSON.stringify({ bundle: target, bytes: bundle.length, sha256, files: files.map((each) => each.path), left_out: leftOut }));
    return EXIT.OK;
  }
  const { style } = terminal;
  for (const each of files) terminal.print(`${style.green("+")} ${oneLine(each.path)}`);
  for (const each of leftOut) terminal.print(`${style.yellow("-")} ${oneLine(each.path)}  ${style.dim(`left out: ${each.why}`)}`);
  terminal.print(
    `\n${style.bold("Wrote")} ${path.relative(directory, target)}  ${files.length} files, ${formatBytes(bundle.length)}, sha256 ${sha256.slice(0, 16)}`,
  );
  terminal.print(`  npx forge import ${path.basename(target)} <directory>`);
  return EXIT.OK;
}

/** The file is there whole or not at all. Errors: conflict, FILE_EXISTS. */
async function writeWhole(target: string, content: Buffer, replaces: boolean): Promise<void> {
  const fresh = `${target}.${process.pid}.new`;
  try {
    if (!replaces) await (await open(target, "wx", 0o644)).close();
    await using handle = await open(fresh, "wx", 0o644);
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    await rm(fresh, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw new ForgeError(ErrorCode.CONFLICT, `${target} exists already: name another file, or add --force`, {
        reason: "FILE_EXISTS",
        metadata: { file: target },
        cause: error,
      });
    if (!replaces) await rm(target, { force: true });
    throw ForgeError.validation("path", `${target} can't be written: ${message}`, { metadata: { file: target }, cause: error });
  }
  await rename(fresh, target);
}

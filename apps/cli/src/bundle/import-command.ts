import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine } from "../output/text.ts";
import { unpackBundle } from "./unpack-bundle.ts";

export interface ImportOptions extends CommonOptions {
  /** Puts the bundle's files in the place of those that are there. */
  readonly force?: boolean;
}

/** `forge import`: unpacks a bundle into a directory, wholly or not at all. */
export async function importCommand({ terminal, directory }: Context, bundle: string, target: string | undefined, options: ImportOptions): Promise<number> {
  const archive = path.resolve(directory, bundle);
  const found = await stat(archive).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ForgeError(ErrorCode.NOT_FOUND, `${archive} can't be read (${code})`, { reason: "FILE_NOT_FOUND", metadata: { file: archive }, cause: error });
  });
  if (!found.isFile()) throw ForgeError.validation("bundle", `${archive} is no file`, { reason: "BUNDLE_INVALID", metadata: { file: archive } });
  const root = path.resolve(directory, target ?? options.project ?? ".");
  const { files } = await unpackBundle(createReadStream(archive), root, { replaces: options.force === true });
  if (options.json === true) {
    terminal.print(JSON.stringify({ project: root, files }));
    return EXIT.OK;
  }
  const { style } = terminal;
  const shown = path.relative(directory, root) || ".";
  for (const file of files) terminal.print(`${style.green("+")} ${oneLine(path.join(shown, file))}`);
  const prefix = shown === "." ? "" : `cd ${shown} && `;
  terminal.print(`\n${style.bold("Next")}\n  ${prefix}npx forge check\n  ${prefix}npx forge list`);
  terminal.print("Keys of providers are not part of a bundle: set them in the environment.");
  return EXIT.OK;
}

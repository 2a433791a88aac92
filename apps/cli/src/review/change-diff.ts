import type { FileChange } from "@forge/protocol/session";
import { createTwoFilesPatch } from "diff";
import { readArtifactText } from "../server/artifact-value.ts";
import type { ProjectLink } from "../server/project-link.ts";

/** Larger files are not compared: nobody reads that. */
const FILE_BYTES_MAX = 262_144;
const EDITS_MAX = 5_000;

/** What a change did to its files, as a unified diff, from what was kept of before and after; files of which nothing was kept are left out. */
export async function changeDiff(link: ProjectLink, files: readonly FileChange[]): Promise<string> {
  const diffs: string[] = [];
  for (const file of files) {
    const [before, after] = [await contentOf(link, file.beforeSha256, file.before), await contentOf(link, file.afterSha256, file.after)];
    if (before === undefined || after === undefined || before.includes("\0") || after.includes("\0")) continue;
    const diff = createTwoFilesPatch(
      file.beforeSha256 === "" ? "/dev/null" : `a/${file.path}`,
      file.afterSha256 === "" ? "/dev/null" : `b/${file.path}`,
      before,
      after,
      undefined,
      undefined,
      { maxEditLength: EDITS_MAX },
    );
    if (diff !== undefined) diffs.push(diff.replace(/^=+\n/, ""));
  }
  return diffs.join("");
}

async function contentOf(link: ProjectLink, sha256: string, kept: FileChange["before"]): Promise<string | undefined> {
  if (sha256 === "") return "";
  return kept === undefined || Number(kept.size) > FILE_BYTES_MAX ? undefined : readArtifactText(link, kept.sha256, FILE_BYTES_MAX);
}

import { create } from "@bufbuild/protobuf";
import { type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import { oneLine } from "../text.ts";
import { previewStale } from "../tools/preview-stale.ts";
import type { ToolRequest } from "../tools/tool-definition.ts";
import { type ChangePlan, isUnchanged, type PlannedFile } from "./change-plan.ts";
import { type FileDiff, FileDiffs } from "./file-diff.ts";
import { sha256Of } from "./file-state.ts";

const DIFF_BYTES_MAX = 32 * 1024;
const FACTS_BYTES_MAX = 8 * 1024;
const PATHS_MAX = 256;

/** What must still be so when a plan is carried out: where its paths lead, and what is there. */
interface FileFact {
  readonly path: string;
  /** SHA-256; null: nothing. */
  readonly before: string | null;
  readonly mode: number | null;
}

/** Tells what a plan would change. */
export async function previewOf(plan: ChangePlan, request: ToolRequest): Promise<ToolPreview> {
  const compared = new FileDiffs();
  const diffs = plan.map(({ before, after }) => compared.of(before.path, before.file?.bytes, after?.bytes));
  const [added, removed] = [sum(diffs.map((diff) => diff.added)), sum(diffs.map((diff) => diff.removed))];
  const whole = Buffer.from(plan.map((planned, index) => modeLines(planned) + (diffs[index] as FileDiff).text).join(""), "utf8");
  const isCut = whole.length > DIFF_BYTES_MAX;
  return create(ToolPreviewSchema, {
    title: oneLine(titleOf(plan, added, removed), 256),
    diff: isCut ? beginning(whole) : whole.toString("utf8"),
    diffArtifact: isCut ? await request.putArtifact(whole, "text/x-diff") : undefined,
    factsJson: factsOf(plan),
    paths: plan.slice(0, PATHS_MAX).map(({ before }) => before.path),
  });
}

/** Throws previewStale() where a plan that was made anew starts from something else than what people saw. Nothing was shown: nothing is compared. */
export function requireAsPreviewed(plan: ChangePlan, previewed: ToolPreview | undefined): void {
  if (previewed === undefined || previewed.factsJson === "" || previewed.factsJson === factsOf(plan)) return;
  const shown = filesIn(previewed.factsJson);
  const differing = facts(plan).find((fact) => !shown.some((one) => one.path === fact.path && one.before === fact.before && one.mode === fact.mode));
  throw previewStale(shown.length === 0 || differing === undefined ? "What the files are or where they are has changed" : `${differing.path} has changed`);
}

function facts(plan: ChangePlan): FileFact[] {
  return plan
    .map(({ before: { path, file } }) => ({ before: file?.sha256 ?? null, mode: file?.mode ?? null, path }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** Keys in order of their names; only a digest where there are too many files to name. */
function factsOf(plan: ChangePlan): string {
  const json = JSON.stringify({ files: facts(plan) });
  return Buffer.byteLength(json) <= FACTS_BYTES_MAX ? json : JSON.stringify({ files_sha256: sha256Of(Buffer.from(json)) });
}

function filesIn(factsJson: string): FileFact[] {
  const { files } = JSON.parse(factsJson) as { files?: FileFact[] };
  return files ?? [];
}

function titleOf(plan: ChangePlan, added: number, removed: number): string {
  const lines = `(+${added} -${removed})`;
  const [only] = plan;
  if (only === undefined || plan.length > 1) return `change ${plan.length} files ${lines}`;
  return `${verbOf(only)} ${only.before.path} ${lines}`;
}

function verbOf(planned: PlannedFile): string {
  if (isUnchanged(planned)) return "leave as it is";
  if (planned.after === undefined) return "delete";
  return planned.before.file === undefined ? "create" : "edit";
}

/** As git tells a change of permissions. */
function modeLines({ before: { file }, after }: PlannedFile): string {
  if (file === undefined || after?.mode === undefined || after.mode === file.mode) return "";
  return `old mode 100${file.mode.toString(8)}\nnew mode 100${after.mode.toString(8)}\n`;
}

/** Whole lines, at most DIFF_BYTES_MAX bytes. */
function beginning(diff: Buffer): string {
  const cut = diff.lastIndexOf(0x0a, DIFF_BYTES_MAX - 1);
  if (cut >= 0) return diff.toString("utf8", 0, cut + 1);
  return new TextDecoder().decode(diff.subarray(0, DIFF_BYTES_MAX - 3), { stream: true });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

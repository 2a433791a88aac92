import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type FileDiff, formatDiff, type Hunk, parseDiff, pathOf } from "../diff/parse-diff.ts";

/** A part of a patch that can be taken, left out or edited by itself. */
export interface PatchPart {
  readonly path: string;
  /** As lines of a diff, for people. */
  readonly diff: string;
  /** What an editor is given. */
  readonly text: string;
}

/** The parts of a call of tools.patch, and the arguments of what of them was kept. */
export interface PatchParts {
  readonly parts: readonly PatchPart[];
  /** `kept` has a text for each part: edited, as it was, or undefined where it is left out. Undefined where nothing is kept. */
  readonly join: (kept: readonly (string | undefined)[]) => string | undefined;
}

/** Undefined where the arguments are none that can be taken apart. */
export function patchParts(args: JsonObject): PatchParts | undefined {
  if (typeof args.patch === "string") return partsOfDiff(args, args.patch);
  const { edits } = args;
  return Array.isArray(edits) && edits.length > 0 && edits.every(isEdit) ? partsOfEdits(args, edits) : undefined;
}

interface Place {
  readonly file: FileDiff;
  readonly hunk: Hunk | undefined;
}

function partsOfDiff(args: JsonObject, patch: string): PatchParts | undefined {
  const files = parseDiff(patch);
  // What has no hunks (a rename, a deletion without content) is one part as well.
  const places: readonly Place[] = files.flatMap((file): Place[] =>
    file.hunks.length === 0 ? [{ file, hunk: undefined }] : file.hunks.map((hunk) => ({ file, hunk })),
  );
  if (places.length === 0) return undefined;
  const parts = places.map(({ file, hunk }) => {
    const diff = formatDiff([{ header: hunk === undefined ? file.header : [], hunks: hunk === undefined ? [] : [hunk] }]);
    return { path: pathOf(file), diff, text: diff };
  });
  return {
    parts,
    join: (kept) => {
      const chosen = files.flatMap((file): FileDiff[] => {
        const mine = places.flatMap((place, index) => (place.file === file && kept[index] !== undefined ? [{ place, text: kept[index] }] : []));
        if (mine.length === 0) return [];
        return [{ ...file, hunks: mine.flatMap(({ place, text }) => (place.hunk === undefined ? [] : hunksIn(text, place.hunk))) }];
      });
      return chosen.length === 0 ? undefined : JSON.stringify({ ...args, patch: formatDiff(chosen) });
    },
  };
}

/** The hunk that an edited text is. */
function hunksIn(text: string, before: Hunk): readonly Hunk[] {
  const [file] = parseDiff(`--- a\n+++ b\n${text.startsWith("@@") ? "" : `@@ -${before.oldStart},1 +${before.oldStart},1 @@\n`}${text}`);
  return file?.hunks ?? [];
}

type Edit = JsonObject & { readonly path: string; readonly search: string; readonly replace: string };

function isEdit(value: JsonValue): value is Edit {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return typeof value.path === "string" && typeof value.search === "string" && typeof value.replace === "string";
}

function partsOfEdits(args: JsonObject, edits: readonly Edit[]): PatchParts {
  const signed = (sign: string, text: string): string => (text === "" ? "" : `${sign}${text.replace(/\n$/, "").replaceAll("\n", `\n${sign}`)}\n`);
  return {
    parts: edits.map(({ path, search, replace }) => ({
      path,
      diff: `${signed("-", search)}${signed("+", replace)}`,
      text: replace,
    })),
    join: (kept) => {
      const chosen = edits.flatMap((edit, index) => (kept[index] === undefined ? [] : [{ ...edit, replace: kept[index] }]));
      return chosen.length === 0 ? undefined : JSON.stringify({ ...args, edits: chosen });
    },
  };
}

import type { JsonValue } from "@bufbuild/protobuf";
import type { StateChange } from "@forge/workflow";
import type { Style } from "../output/style.ts";
import { cut, oneLine } from "../output/text.ts";

const COLOURS = { "+": "green", "-": "red", "~": "yellow" } as const;

/** Changes of a state, one a line: `+` added, `-` removed, `~` changed. */
export function changeLines(changes: readonly StateChange[], style: Style, columns: number): string[] {
  return changes.map(({ marker, path, before, after }) => {
    const value = marker === "~" ? `${json(before)} ${style.dim("→")} ${json(after)}` : json(marker === "+" ? after : before);
    return cut(`${style[COLOURS[marker]](marker)} ${oneLine(path)}  ${style.dim(value)}`, columns);
  });
}

function json(value: JsonValue | undefined): string {
  return oneLine(JSON.stringify(value) ?? "");
}

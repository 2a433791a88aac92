import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { parseDiff, pathOf } from "../diff/parse-diff.ts";
import { oneLine } from "../output/text.ts";

/** A call on one line of any length: its tool, and of its arguments what a person wants to know; all of them where nobody knows the tool. */
export function callText(tool: string, argumentsJson: string): string {
  const args = objectFrom(argumentsJson);
  const told = args === undefined ? undefined : summary(tool, args);
  return oneLine(`${tool} ${told ?? argumentsJson}`);
}

function summary(tool: string, args: JsonObject): string | undefined {
  const text = (name: string): string => (typeof args[name] === "string" ? args[name] : "");
  const known = (names: readonly string[]): boolean => Object.keys(args).every((name) => names.includes(name));
  switch (tool) {
    case "tools.read_file":
      return known(["path", "start_line", "end_line"]) ? `${text("path")}${range(args)}` : undefined;
    case "tools.file":
      return `${text("operation")} ${text("path")}${range(args)}`;
    case "tools.glob":
      return known(["pattern", "path"]) ? `${text("pattern")}${args.path === undefined ? "" : ` in ${text("path")}`}` : undefined;
    case "tools.patch":
      return patchedPaths(args);
    case "tools.shell":
      return known(["command"]) ? text("command") : undefined;
    case "tools.skill":
      return known(["name"]) ? text("name") : undefined;
    default:
      return undefined;
  }
}

function range({ start_line: start, end_line: end }: JsonObject): string {
  if (typeof start !== "number" && typeof end !== "number") return "";
  return `:${typeof start === "number" ? start : 1}-${typeof end === "number" ? end : ""}`;
}

function patchedPaths(args: JsonObject): string | undefined {
  if (typeof args.patch === "string") return parseDiff(args.patch).map(pathOf).join(" ");
  if (!Array.isArray(args.edits)) return undefined;
  const paths = args.edits.map((edit: JsonValue) => (typeof edit === "object" && edit !== null && !Array.isArray(edit) ? edit.path : undefined));
  return paths.every((path) => typeof path === "string") ? [...new Set(paths)].join(" ") : undefined;
}

/** The object that a JSON text is; undefined where it is something else. */
export function objectFrom(json: string): JsonObject | undefined {
  try {
    const value = JSON.parse(json) as JsonValue;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    // Models write what is no JSON as well; it is shown as it is.
    return undefined;
  }
}

import { isScalar, type Node } from "yaml";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { checkId, NAME_LENGTH_MAX } from "./names.ts";
import { normalizeVersion } from "./version.ts";

/** The top of a workflow or agent file: `schema_version`, which may be left out, must be v1. */
export function readSchemaVersion(reader: YamlReader, entry: YamlEntry | undefined): void {
  if (entry === undefined) return;
  const version = readVersion(reader, entry.value, "schema_version");
  if (version !== undefined && version !== "v1") reader.problems.add(startOf(entry.value), `schema_version ${version} is unknown; expected v1`);
}

/** The `id` and `version` of a workflow or agent. */
export function readIdentity(
  reader: YamlReader,
  entries: ReadonlyMap<string, YamlEntry>,
  what: string,
  at: number,
): { readonly id: string; readonly version: string } | undefined {
  const [id, version] = [entries.get("id"), entries.get("version")];
  if (id === undefined) reader.problems.add(at, `${what} has no id`);
  if (version === undefined) reader.problems.add(at, `${what} has no version; expected v1, v2, ...`);
  const idText = id && checkId(reader.problems, `${what} id`, reader.text(id.value, `${what} id`, NAME_LENGTH_MAX));
  const versionText = version && readVersion(reader, version.value, `${what} version`);
  return idText && versionText ? { id: idText.text, version: versionText } : undefined;
}

/** A version, as a text or a number. */
function readVersion(reader: YamlReader, node: Node, what: string): string | undefined {
  const scalar = reader.resolve(node);
  const written =
    isScalar(scalar) && (typeof scalar.value === "string" || typeof scalar.value === "number") ? (scalar.source ?? String(scalar.value)) : undefined;
  const version = written === undefined ? undefined : normalizeVersion(written);
  if (version === undefined)
    reader.problems.add(startOf(node), `${what}${written === undefined ? "" : ` \`${written.slice(0, 40)}\``} is no version; expected v1, v2, ...`);
  return version;
}

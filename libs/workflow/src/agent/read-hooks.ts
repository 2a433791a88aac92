import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { SHIPPED_HOOKS } from "@forge/domain";
import { HookAt, type HookSpec, HookSpecSchema } from "@forge/protocol/session";
import { isMap, isScalar, type Node } from "yaml";
import { NAME_LENGTH_MAX } from "../definition/names.ts";
import { readDurationMs } from "../definition/read-duration.ts";
import { clip, unknownName } from "../yaml/problems.ts";
import type { YamlEntry, YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";

const HOOKS_MAX = 16;
const CONFIG_BYTES_MAX = 4_096;
const TIMEOUT_MS_MAX = 5 * 60_000;

/** Names that begin so are those of hooks that the runtime brings. */
const SHIPPED_PREFIX = "forge.";

export const HOOK_KEYS = ["name", "at", "config", "timeout"];

/** The points by the names that files give them. */
const POINTS: ReadonlyMap<string, HookAt> = new Map([
  ["on_user_message", HookAt.USER_MESSAGE],
  ["on_pre_llm", HookAt.PRE_LLM],
  ["on_post_llm", HookAt.POST_LLM],
]);

export const HOOK_POINTS = Array.from(POINTS.keys());
export const SHIPPED_HOOK_NAMES = Array.from(SHIPPED_HOOKS.keys());

/** An agent's `hooks`, in the order in which they are called: names of shipped ones, or mappings. */
export function readHooks(reader: YamlReader, entry: YamlEntry | undefined): HookSpec[] {
  const items = (entry && reader.list(entry.value, "hooks")) ?? [];
  if (items.length > HOOKS_MAX) reader.problems.add(startOf(entry?.value), `${items.length} hooks; at most ${HOOKS_MAX} are allowed`);
  return items.slice(0, HOOKS_MAX).flatMap((item) => readHook(reader, item) ?? []);
}

function readHook(reader: YamlReader, item: Node): HookSpec | undefined {
  const isName = isScalar(reader.resolve(item));
  const entries = isName ? new Map<string, YamlEntry>() : reader.mapping(item, "a hook");
  if (entries === undefined) return undefined;
  reader.checkKeys(entries, "a hook", HOOK_KEYS);
  const named = entries.get("name");
  if (!isName && named === undefined) reader.problems.add(startOf(item), "a hook has no name");
  const name = isName ? readName(reader, item) : named && readName(reader, named.value);
  const timeout = entries.get("timeout");
  const timeoutMs = timeout && readDurationMs(reader, timeout.value, "timeout of a hook", 1, TIMEOUT_MS_MAX);
  const configJson = name === undefined ? "" : readConfig(reader, name, entries.get("config"));
  const at = name && readPoints(reader, name, entries.get("at"));
  if (name === undefined || at === undefined) return undefined;
  return create(HookSpecSchema, { name: name.text, at, configJson, timeout: timeoutMs === undefined ? undefined : durationFromMs(timeoutMs) });
}

function readName(reader: YamlReader, node: Node): YamlText | undefined {
  const name = reader.text(node, "a hook's name", NAME_LENGTH_MAX);
  if (name === undefined) return undefined;
  if (name.text.startsWith(SHIPPED_PREFIX) && !SHIPPED_HOOKS.has(name.text)) {
    reader.problems.addUnknown(name.offset, "shipped hook", name.text, SHIPPED_HOOK_NAMES);
    return undefined;
  }
  if (/^[!-~]+$/.test(name.text)) return name;
  reader.problems.add(name.offset, `hook \`${clip(name.text)}\` is no valid name; expected visible ASCII characters`);
  return undefined;
}

/** Where the hook is called. A shipped one has one point, which needs not be said. */
function readPoints(reader: YamlReader, name: YamlText, entry: YamlEntry | undefined): HookAt[] | undefined {
  const shipped = SHIPPED_HOOKS.get(name.text);
  if (entry === undefined) {
    if (shipped !== undefined) return [shipped.at];
    const unknown = unknownName("shipped hook", name.text, SHIPPED_HOOK_NAMES);
    reader.problems.add(name.offset, `${unknown}; a worker's hook says where it is called: {name: ${clip(name.text)}, at: [on_pre_llm]}`);
    return undefined;
  }
  const items = isScalar(reader.resolve(entry.value)) ? [entry.value] : (reader.list(entry.value, "at of a hook") ?? []);
  if (items.length === 0) reader.problems.add(startOf(entry.value), `\`at\` of a hook names no point; expected one of ${HOOK_POINTS.join(", ")}`);
  const points = new Set<HookAt>();
  for (const item of items) {
    const word = reader.choice(item, "point of a hook", HOOK_POINTS);
    const point = word === undefined ? undefined : POINTS.get(word);
    if (point === undefined) continue;
    if (points.has(point)) reader.problems.add(startOf(item), `the point ${word} stands twice in \`at\``);
    else if (shipped !== undefined && shipped.at !== point)
      reader.problems.add(startOf(item), `${name.text} is not called at ${word}; expected ${wordOf(shipped.at)}`);
    points.add(point);
  }
  return Array.from(points);
}

function wordOf(point: HookAt): string | undefined {
  return HOOK_POINTS.find((word) => POINTS.get(word) === point);
}

/** The hook's own settings as JSON text; empty where it has none. */
function readConfig(reader: YamlReader, name: YamlText, entry: YamlEntry | undefined): string {
  const config = entry && reader.json(entry.value, "config of a hook");
  const at = entry === undefined ? name.offset : startOf(entry.value);
  if (entry !== undefined && !isMap(reader.resolve(entry.value))) {
    reader.problems.add(at, "config of a hook is no mapping; expected its settings by name");
    return "";
  }
  if (entry !== undefined && config === undefined) return "";
  const settings = typeof config === "object" && config !== null && !Array.isArray(config) ? config : {};
  const problem = SHIPPED_HOOKS.get(name.text)?.problem(settings);
  if (problem !== undefined) reader.problems.add(at, `in the config of ${name.text}, ${problem}`);
  const text = config === undefined ? "" : JSON.stringify(config);
  const bytes = Buffer.byteLength(text);
  if (bytes > CONFIG_BYTES_MAX) reader.problems.add(at, `config of a hook has ${bytes} bytes of JSON; at most ${CONFIG_BYTES_MAX} are allowed`);
  return text;
}

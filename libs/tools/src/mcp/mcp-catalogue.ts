import { Ajv2020 } from "ajv/dist/2020.js";
import { canonicalJson, sha256 } from "./canonical-json.ts";
import type { McpProblem } from "./mcp-config.ts";

/** A tool as a server lists it; nothing of it is believed but its name, description and schema. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly [key: string]: unknown };
}

/** A tool of a server as it is served. */
export interface CatalogueTool {
  /** As models see it: mcp.<server>.<tool>. */
  readonly name: string;
  /** As the server knows it. */
  readonly remoteName: string;
  readonly description: string;
  readonly schema: { readonly [key: string]: unknown };
  /** SHA-256 of description and schema: another value is another tool. */
  readonly digest: string;
}

/** What a server serves, in order of name. */
export interface Catalogue {
  readonly tools: readonly CatalogueTool[];
  readonly problems: readonly McpProblem[];
}

const NAME_MAX = 128;
const DESCRIPTION_MAX = 4096;
const SCHEMA_BYTES_MAX = 16 * 1024;
/** Of one server: more would leave no room in a model's context for anything else. */
const TOOLS_MAX = 128;

/** What a server lists, made so that it can be served: the same bytes in whatever order it is listed. */
export function catalogueOf(server: string, serverPart: string, listed: readonly ListedTool[]): Catalogue {
  const problems: McpProblem[] = [];
  const refuse = (tool: string, message: string): void => {
    problems.push({ server, reason: "MCP_TOOL_REFUSED", message: `${server}: tool ${JSON.stringify(tool.slice(0, NAME_MAX))} is not served: ${message}` });
  };
  const byName = new Map<string, CatalogueTool>();
  // Equal names: the same one wins in whatever order they come.
  const sorted = listed
    .map((tool) => ({ tool, key: `${tool.name} ${canonicalJson(tool.inputSchema)} ${tool.description ?? ""}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const { tool } of sorted) {
    const name = `mcp.${serverPart}.${namePart(tool.name, NAME_MAX - serverPart.length - 5)}`;
    if (byName.has(name)) {
      refuse(tool.name, "the server lists this name twice");
      continue;
    }
    if (tool.inputSchema.type !== "object") {
      refuse(tool.name, "its input schema is not of an object");
      continue;
    }
    // Which dialect a schema says that it is of changes nothing in how it is checked here.
    const { $schema: _dialect, ...schema } = tool.inputSchema;
    const schemaText = canonicalJson(schema);
    if (Buffer.byteLength(schemaText) > SCHEMA_BYTES_MAX) {
      refuse(tool.name, `its input schema has more than ${SCHEMA_BYTES_MAX} bytes`);
      continue;
    }
    const schemaProblem = problemOf(schema, schemaText);
    if (schemaProblem !== undefined) {
      refuse(tool.name, `its input schema is none: ${schemaProblem}`);
      continue;
    }
    const description = shownText(tool.description ?? "") || `The tool ${tool.name} of the MCP server ${server}.`;
    byName.set(name, {
      name,
      remoteName: tool.name,
      description,
      schema: JSON.parse(schemaText) as CatalogueTool["schema"],
      digest: sha256(canonicalJson([description, schema])),
    });
  }
  const tools = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (tools.length > TOOLS_MAX) {
    problems.push({
      server,
      reason: "MCP_TOO_MANY_TOOLS",
      message: `${server}: lists ${tools.length} tools; the first ${TOOLS_MAX} by name are served`,
    });
  }
  return { tools: tools.slice(0, TOOLS_MAX), problems };
}

/**
 * A name as a part of a tool's name: letters, digits, `_`, `-` and `.`. What has to be changed for it gets a digest of the original, so that two names never
 * become one, and none takes another's place.
 */
export function namePart(name: string, lengthMax: number): string {
  if (/^[A-Za-z0-9_.-]+$/.test(name) && name.length <= lengthMax) return name;
  const readable = name.replaceAll(/[^A-Za-z0-9_.-]/g, "_").slice(0, lengthMax - 9);
  return `${readable}_${sha256(name).slice(0, 8)}`;
}

/** Schemas that can be used, by their text: every call lists again, and nearly always finds what it found before. */
const usable = new Set<string>();
const USABLE_MAX = 4096;
let compiler: Ajv2020 | undefined;

/** Why arguments can't be checked against a schema, for people. */
function problemOf(schema: object, schemaText: string): string | undefined {
  if (usable.has(schemaText)) return undefined;
  compiler ??= new Ajv2020({ strict: false, validateFormats: false, ownProperties: true, logger: false });
  try {
    compiler.compile(schema);
  } catch (error) {
    return (error as Error).message.slice(0, 200);
  } finally {
    // It would keep every schema, and take an id for the same one's.
    compiler.removeSchema();
  }
  if (usable.size >= USABLE_MAX) usable.clear();
  usable.add(schemaText);
  return undefined;
}

/** What people who approve can't see must not reach the model either: control and format characters. At most 4,096 characters. */
function shownText(text: string): string {
  const shown = text.replaceAll(/[^\P{C}\n\t]/gu, "").trim();
  return shown.length <= DESCRIPTION_MAX ? shown : `${shown.slice(0, DESCRIPTION_MAX - 1)}…`;
}

/** What differs between two definitions of a tool, for people and models, short. */
export function describeChange(before: CatalogueTool, after: CatalogueTool): string {
  const said: string[] = [];
  if (before.description !== after.description)
    said.push(`its description, where it now says ${JSON.stringify(firstDifference(before.description, after.description))}`);
  const old = propertiesOf(before);
  const now = propertiesOf(after);
  const added = Object.keys(now).filter((key) => !Object.hasOwn(old, key));
  const removed = Object.keys(old).filter((key) => !Object.hasOwn(now, key));
  const changed = Object.keys(now).filter((key) => Object.hasOwn(old, key) && canonicalJson(old[key]) !== canonicalJson(now[key]));
  if (added.length > 0) said.push(`new arguments ${listed(added)}`);
  if (removed.length > 0) said.push(`arguments ${listed(removed)} that are gone`);
  if (changed.length > 0) said.push(`arguments ${listed(changed)}, which are described differently`);
  if (said.length === 0) said.push("the rest of its input schema");
  return said.join("; ");
}

const SHOWN_MAX = 120;
const LISTED_MAX = 8;

function propertiesOf({ schema }: CatalogueTool): Readonly<Record<string, unknown>> {
  const { properties } = schema;
  return typeof properties === "object" && properties !== null ? (properties as Record<string, unknown>) : {};
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, LISTED_MAX).map((name) => name.slice(0, 64));
  return shown.join(", ") + (names.length > LISTED_MAX ? " and others" : "");
}

/** The later text from where it first differs, a few words before that included. */
function firstDifference(before: string, after: string): string {
  let at = 0;
  while (at < after.length && before[at] === after[at]) at++;
  const begin = Math.max(0, at - 20);
  return `${begin > 0 ? "…" : ""}${after.slice(begin, begin + SHOWN_MAX)}`;
}

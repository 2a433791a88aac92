import { ForgeError } from "@forge/protocol";
import { parseDocument } from "yaml";

/** Of a SKILL.md. */
export const SKILL_BYTES_MAX = 64 * 1024;
const FRONT_MATTER_LENGTH_MAX = 8 * 1024;
const DESCRIPTION_LENGTH_MAX = 1_024;
const ALLOWED_TOOLS_MAX = 64;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** What a SKILL.md says. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  /** The tools that the skill is made for, as its author names them; undefined where it names none. It grants nothing. */
  readonly allowedTools: readonly string[] | undefined;
  readonly body: string;
}

/**
 * A SKILL.md: YAML front matter between two lines of `---`, with `name` (equal to its directory's), `description` and perhaps `allowed-tools`, then Markdown.
 * Other fields are left to other programs. Errors: validation.
 */
export function parseSkill(text: string, directoryName: string): SkillText {
  const match = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (match === null) throw invalid("it begins with no front matter between two lines of ---");
  const fields = fieldsOf(match[1] ?? "");
  const { name, description } = fields;
  if (typeof name !== "string" || !NAME.test(name)) throw invalid("name: 1 to 64 lower-case letters, digits and hyphens");
  if (name !== directoryName) throw invalid(`name: it is ${JSON.stringify(name)}, and its directory is ${JSON.stringify(directoryName)}`);
  if (typeof description !== "string" || description.trim() === "" || description.length > DESCRIPTION_LENGTH_MAX)
    throw invalid(`description: 1 to ${DESCRIPTION_LENGTH_MAX} characters`);
  return {
    name,
    description: description.trim(),
    allowedTools: toolsOf(fields["allowed-tools"]),
    body: text.slice(match[0].length).replace(/^(?:[ \t]*\r?\n)+/, ""),
  };
}

function fieldsOf(text: string): Record<string, unknown> {
  if (text.length > FRONT_MATTER_LENGTH_MAX) throw invalid(`its front matter is longer than ${FRONT_MATTER_LENGTH_MAX} characters`);
  const document = parseDocument(text, { schema: "core", uniqueKeys: true });
  const error = document.errors[0];
  if (error !== undefined) throw invalid(`its front matter is no YAML: ${error.message.split("\n", 1)[0]}`);
  let value: unknown;
  try {
    // No aliases: a few lines could stand for more than fits into memory.
    value = document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw invalid(`its front matter can't be read: ${(cause as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("its front matter is no mapping");
  return value as Record<string, unknown>;
}

/** A list, or the names in one text, with commas or spaces between them. */
function toolsOf(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const names = typeof value === "string" ? (value.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []) : value;
  if (!Array.isArray(names) || names.length > ALLOWED_TOOLS_MAX || !names.every((name) => typeof name === "string" && name.length > 0 && name.length <= 256))
    throw invalid(`allowed-tools: at most ${ALLOWED_TOOLS_MAX} names`);
  return names as string[];
}

function invalid(why: string): ForgeError {
  return ForgeError.validation("skill", why, { origin: "client", reason: "SKILL_INVALID" });
}

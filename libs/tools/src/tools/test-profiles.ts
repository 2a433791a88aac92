import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ForgeError } from "@forge/protocol";
import { parse, TomlError } from "smol-toml";
import { argumentValidator } from "./argument-validator.ts";

/** A check of the workspace that its owner wrote down: an argument vector, and no shell. */
export interface TestProfile {
  readonly name: string;
  readonly command: readonly string[];
  readonly description: string;
  readonly timeoutSeconds: number;
  /** Added to what the command sees; `secret://name` in a value is resolved when it runs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Relative to the workspace. */
  readonly cwd: string;
  /** Whether a call may add arguments. */
  readonly allowArguments: boolean;
}

/** Where profiles are, relative to the workspace. */
export const TEST_PROFILES_FILE = ".forge/tests.toml";

const FILE_LENGTH_MAX = 64 * 1024;
const TIMEOUT_SECONDS = 600;
const TIMEOUT_SECONDS_MAX = 3_600;

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength });
const SCHEMA = {
  type: "object",
  properties: {
    command: { type: "array", items: { type: "string", maxLength: 1024 }, minItems: 1, maxItems: 64 },
    description: text(512),
    timeout_seconds: { type: "number", exclusiveMinimum: 0, maximum: TIMEOUT_SECONDS_MAX },
    env: { type: "object", additionalProperties: { type: "string", maxLength: 4096 }, maxProperties: 64 },
    cwd: text(1024),
    allow_args: { type: "boolean" },
  },
  required: ["command"],
  additionalProperties: false,
};
const validate = argumentValidator(SCHEMA);

interface WrittenProfile {
  command: string[];
  description?: string;
  timeout_seconds?: number;
  env?: Record<string, string>;
  cwd?: string;
  allow_args?: boolean;
}

/**
 * The profiles of a workspace, at most 32; none where it has no such file. Errors: validation with `file`, `line` and, where it is known, `column` in the
 * metadata. Whoever serves them has asked before whether the workspace is trusted.
 */
export async function readTestProfiles(workspace: string): Promise<TestProfile[]> {
  let source: string;
  try {
    source = await readFile(join(workspace, TEST_PROFILES_FILE), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw invalid(`it can't be read: ${(error as Error).message}`, 1);
  }
  return parseTestProfiles(source);
}

/** As readTestProfiles, of the file's content. */
export function parseTestProfiles(source: string): TestProfile[] {
  if (source.length > FILE_LENGTH_MAX) throw invalid(`it has more than ${FILE_LENGTH_MAX} characters`, 1);
  const { profiles = {}, ...others } = parsed(source);
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`${other} is not known; profiles are tables [profiles.<name>]`, lineOf(source, undefined, other));
  if (!isTable(profiles)) throw invalid("profiles are tables [profiles.<name>]", lineOf(source, undefined, "profiles"));
  const entries = Object.entries(profiles);
  if (entries.length > 32) throw invalid("there are more than 32 profiles", 1);
  return entries.map(([name, written]) => profile(source, name, written));
}

function profile(source: string, name: string, written: unknown): TestProfile {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw invalid(`${JSON.stringify(name)} is no name: 1 to 64 letters, digits, _ and -`, lineOf(source, name));
  try {
    validate(written);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const path = (error.detail.metadata.field ?? "").replace(/^arguments\.?/, "");
    const told = error.message.replace(/^arguments\.?\S*/, path === "" ? "it" : path).replace("; the tool was not called", "");
    throw invalid(`profile ${name}: ${told}`, lineOf(source, name, path.split(".")[0]));
  }
  const { command, description = "", timeout_seconds = TIMEOUT_SECONDS, env = {}, cwd = ".", allow_args = false } = written as WrittenProfile;
  if (command[0] === "" || command.some((word) => word.includes("\0")))
    throw invalid(`profile ${name}: its command begins with a program`, lineOf(source, name, "command"));
  return { name, command, description, timeoutSeconds: timeout_seconds, environment: env, cwd, allowArguments: allow_args };
}

function parsed(source: string): Record<string, unknown> {
  try {
    return parse(source);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw invalid((error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, ""), error.line, error.column);
  }
}

/** Where a key of a profile stands, or its table's head, or the file's beginning: as people write tables. */
function lineOf(source: string, profile: string | undefined, key?: string): number {
  const lines = source.split("\n");
  const isHead = (line: string): boolean =>
    profile === undefined || new RegExp(`^\\s*\\[\\s*profiles\\s*\\.\\s*["']?${profile.replaceAll(/\W/g, "\\$&")}["']?\\s*[\\].]`).test(line);
  const head = lines.findIndex(isHead);
  if (head < 0) return 1;
  const inside =
    key === undefined || key === ""
      ? -1
      : lines.findIndex((line, index) => index >= head && new RegExp(`^\\s*(?:\\[.*)?["']?${key.replaceAll(/\W/g, "\\$&")}\\b`).test(line));
  return (inside < 0 ? head : inside) + 1;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(why: string, line: number, column?: number): ForgeError {
  const place = { file: TEST_PROFILES_FILE, line: String(line), ...(column === undefined ? {} : { column: String(column) }) };
  return ForgeError.validation(TEST_PROFILES_FILE, `${TEST_PROFILES_FILE}:${line}${column === undefined ? "" : `:${column}`}: ${why}`, {
    reason: "TEST_PROFILES",
    metadata: place,
  });
}

import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import type { TaskContext } from "@forge/worker";
import { jsonValueProblem } from "@forge/worker/json-problem";

/** What one call of a tool would do. People see the title and the diff; the gate decides by the risk and the rule's key. */
export interface Preview {
  /** One line for people; what is longer than 256 characters is cut. */
  readonly title: string;
  /** A unified diff of what would change. */
  readonly diff?: string;
  /** What this call does at most, where that is less than the tool's risk. */
  readonly risk?: "read" | "change" | "execute";
  /** What must still be so when the call is made, as at most 8 KiB of JSON: it is found again right before, and a call for which it differs is not made. */
  readonly facts?: unknown;
  /**
   * Names exactly what a remembered rule may stand for, in at most 512 characters: equal for two calls only where who allowed one has seen all that the
   * other does. Absent: no rule can be made of it.
   */
  readonly ruleKey?: string;
  /** The rule in words; what is longer than 256 characters is cut. */
  readonly ruleTitle?: string;
  /** That it touches, relative to the workspace; the first 256. */
  readonly paths?: readonly string[];
}

const LINE_LENGTH_MAX = 256;
const DIFF_BYTES_MAX = 32 * 1024;
const FACTS_BYTES_MAX = 8 * 1024;
const RULE_KEY_LENGTH_MAX = 512;
const PATHS_MAX = 256;

export const RISKS = { read: RiskLevel.READ, change: RiskLevel.CHANGE, execute: RiskLevel.EXECUTE } as const;

/** What a tool told, as it is settled; of a diff that is larger than 32 KiB the beginning, and the whole as an artifact. Errors: validation, TOOL_RESULT. */
export async function toolPreview(name: string, toolRisk: RiskLevel, told: unknown, context: Pick<TaskContext, "putArtifact">): Promise<ToolPreview> {
  const { title, diff = "", risk, ruleKey = "", ruleTitle = "", paths = [] } = checked(name, told);
  if (risk !== undefined && !(Object.hasOwn(RISKS, risk) && RISKS[risk] <= toolRisk))
    throw refused(name, "risk", "its risk is read, change or execute, and no more than the tool's");
  if (ruleKey.length > RULE_KEY_LENGTH_MAX) throw refused(name, "ruleKey", `its ruleKey has at most ${RULE_KEY_LENGTH_MAX} characters`);
  const whole = Buffer.from(diff.toWellFormed());
  const isCut = whole.length > DIFF_BYTES_MAX;
  return create(ToolPreviewSchema, {
    title: oneLine(title),
    diff: isCut ? new TextDecoder().decode(whole.subarray(0, DIFF_BYTES_MAX), { stream: true }) : whole.toString(),
    diffArtifact: isCut ? await context.putArtifact(whole, "text/x-diff") : undefined,
    risk: risk === undefined ? undefined : RISKS[risk],
    factsJson: factsOf(name, told),
    ruleKey: ruleKey.toWellFormed(),
    ruleTitle: oneLine(ruleTitle),
    paths: paths.slice(0, PATHS_MAX).map((path) => path.toWellFormed()),
  });
}

/** Errors: conflict, PREVIEW_STALE, where a call was shown and its facts are others now. */
export function requireFacts(name: string, shown: ToolPreview, told: unknown): void {
  if (shown.factsJson === factsOf(name, told)) return;
  throw new ForgeError(
    ErrorCode.CONFLICT,
    `what ${name} would do has changed since the call was shown for approval; nothing was done. Look again, and call again.`,
    { reason: "PREVIEW_STALE", origin: "tool" },
  );
}

function checked(name: string, told: unknown): Preview {
  if (typeof told !== "object" || told === null) throw refused(name, "preview", "it is an object with a title");
  const { title, diff, ruleKey, ruleTitle, paths = [] } = told as Partial<Preview>;
  const isText = [title, diff ?? "", ruleKey ?? "", ruleTitle ?? ""].every((text) => typeof text === "string");
  if (!isText || !Array.isArray(paths) || !paths.every((path) => typeof path === "string"))
    throw refused(name, "preview", "its title, diff, ruleKey and ruleTitle are strings, and its paths a list of strings");
  return told as Preview;
}

/** With the keys of every object in order, so that equal facts have equal texts. */
function factsOf(name: string, told: unknown): string {
  const { facts } = checked(name, told);
  if (facts === undefined || facts === null) return "";
  const problem = jsonValueProblem(facts);
  if (problem !== undefined) throw refused(name, "facts", `its facts can't be kept: ${problem}`);
  const json = JSON.stringify(facts, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
  if (Buffer.byteLength(json) > FACTS_BYTES_MAX)
    throw refused(name, "facts", `its facts have at most ${FACTS_BYTES_MAX} bytes; a digest of them says the same`);
  return json;
}

function oneLine(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, "?")
    .slice(0, LINE_LENGTH_MAX)
    .toWellFormed();
}

function refused(name: string, field: string, rule: string): ForgeError {
  return ForgeError.validation(field, `${name} told beforehand what can't be kept: ${rule}`, { reason: "TOOL_RESULT", origin: "worker" });
}

import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ContainedFiles } from "../files/contained-files.ts";
import { walkFiles } from "../files/walk-files.ts";
import { findSkills, type SkillOptions } from "./find-skills.ts";

/** Of a skill's other files that are named. */
const FILES_MAX = 100;

/** What a model is told of a skill that it asks for. */
export interface SkillContent {
  readonly name: string;
  readonly description: string;
  /** Where it is written: text of the workspace, or of the person's own. */
  readonly source: string;
  readonly scope: "user" | "workspace";
  readonly body: string;
  /** The tools that it was made for. It grants none of them. */
  readonly allowedTools: readonly string[] | undefined;
  /** What else is in its directory, relative to it. */
  readonly files: readonly string[];
}

/** A skill by its name, whole. Reading it runs nothing. Errors: not_found, SKILL_NOT_FOUND, which names the skills that there are. */
export function readSkill(options: SkillOptions, name: string): SkillContent {
  const { skills, problems } = findSkills(options);
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined) {
    const invalid = problems.find(({ source }) => source.endsWith(`/${name}/SKILL.md`));
    const why = invalid === undefined ? `there are: ${skills.map((one) => one.name).join(", ") || "none"}` : invalid.message;
    throw new ForgeError(ErrorCode.NOT_FOUND, `there is no skill ${JSON.stringify(name.slice(0, 64))}; ${why}`, { origin: "tool", reason: "SKILL_NOT_FOUND" });
  }
  const { description, source, scope, body, allowedTools, directory } = skill;
  return { name, description, source, scope, body, allowedTools, files: filesIn(directory) };
}

function filesIn(directory: string): string[] {
  const found: string[] = [];
  for (const path of walkFiles(new ContainedFiles(directory), "")) {
    if (path === "SKILL.md") continue;
    found.push(path);
    if (found.length === FILES_MAX) break;
  }
  return found;
}

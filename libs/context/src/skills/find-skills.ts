import { readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ContainedFiles } from "../files/contained-files.ts";
import { decodeText } from "../files/decode-text.ts";
import { lstatIfThere } from "../files/lstat-if-there.ts";
import { type Problem, problemOf, quoted } from "../files/problem.ts";
import { underHome } from "../files/user-directory.ts";
import { visibleText } from "../files/visible-text.ts";
import { parseSkill, SKILL_BYTES_MAX, type SkillText } from "./parse-skill.ts";

/** Of one place. */
export const SKILLS_MAX = 64;
/** Of names in a place that are looked at. */
const NAMES_MAX = 1_000;
const FILE = "SKILL.md";

/** A skill that can be read. */
export interface Skill extends SkillText {
  /** Where it is: a path relative to the workspace, or the person's own as seen from his home, `~/`. */
  readonly source: string;
  readonly scope: "user" | "workspace";
  /** Its directory, absolute; what belongs to the skill lies in it. */
  readonly directory: string;
}

export interface SkillOptions {
  readonly root: string;
  /** The person's own, with `skills/` in it; absent: none. */
  readonly configDirectory?: string;
}

/** The skills of a workspace and the person's own, in order of their names; nothing of them is run. His own win over the workspace's of the same name. */
export function findSkills({ root, configDirectory }: SkillOptions): { skills: Skill[]; problems: Problem[] } {
  const workspace = new ContainedFiles(root);
  const finder = new SkillFinder();
  if (configDirectory !== undefined) finder.addUsers(join(configDirectory, "skills"));
  finder.addPlace(workspace, ".forge/skills", "workspace", "");
  finder.addPlace(workspace, ".claude/skills", "workspace", "");
  return { skills: [...finder.skills.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)), problems: finder.problems };
}

class SkillFinder {
  readonly skills = new Map<string, Skill>();
  readonly problems: Problem[] = [];

  /** His links are his own, so the place is where they lead. */
  addUsers(place: string): void {
    if (lstatIfThere(place) === undefined) return;
    let files: ContainedFiles;
    try {
      files = new ContainedFiles(realpathSync(place));
    } catch (error) {
      this.problems.push({ source: underHome(place), message: (error as Error).message });
      return;
    }
    this.addPlace(files, ".", "user", `${underHome(place)}/`);
  }

  /** `shown` goes before the paths below the place. */
  addPlace(files: ContainedFiles, place: string, scope: Skill["scope"], shown: string): void {
    for (const name of this.#namesIn(files, place)) {
      const path = place === "." ? `${name}/${FILE}` : `${place}/${name}/${FILE}`;
      const source = shown + path;
      try {
        const skill = readSkillAt(files, path, name);
        if (skill === undefined) continue;
        const known = this.skills.get(skill.name);
        if (known === undefined) this.skills.set(skill.name, { ...skill, source, scope });
        else this.problems.push({ source, message: `${known.source} has the same name and is used instead` });
      } catch (error) {
        this.problems.push(problemOf(source, error));
      }
    }
  }

  #namesIn(files: ContainedFiles, place: string): string[] {
    let names: string[];
    try {
      names = readdirSync(files.resolve(place)).toSorted().slice(0, NAMES_MAX);
    } catch (error) {
      // Most workspaces have none.
      if (!(error instanceof ForgeError && error.reason === "ENOENT") && (error as NodeJS.ErrnoException).code !== "ENOTDIR")
        this.problems.push({ source: place, message: (error as Error).message });
      return [];
    }
    const places = names.filter((name) => lstatIfThere(join(files.root, place, name, FILE)) !== undefined);
    if (places.length > SKILLS_MAX) this.problems.push({ source: place, message: `only the first ${SKILLS_MAX} of ${places.length} skills are used` });
    return places.slice(0, SKILLS_MAX);
  }
}

/** Errors: validation; those of ContainedFiles. */
function readSkillAt(files: ContainedFiles, path: string, name: string): (SkillText & { directory: string }) | undefined {
  const { bytes, size, path: real } = files.read(path, SKILL_BYTES_MAX);
  if (size > bytes.length) throw ForgeError.validation("skill", `${quoted(path)} is larger than ${SKILL_BYTES_MAX} bytes`, { reason: "SKILL_INVALID" });
  const skill = parseSkill(visibleText(decodeText(bytes, path, false)).text, name);
  return { ...skill, directory: join(files.root, real, "..") };
}

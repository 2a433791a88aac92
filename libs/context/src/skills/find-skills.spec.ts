import { existsSync, symlinkSync } from "node:fs";
import { RiskLevel } from "@forge/protocol/tool";
import { expect, it } from "vitest";
import { Tree } from "../testing/tree.ts";
import { findSkills } from "./find-skills.ts";
import { narrowTools } from "./narrow-tools.ts";
import { parseSkill } from "./parse-skill.ts";
import { readSkill } from "./read-skill.ts";
import { createSkillTool } from "./skill-tool.ts";

function skillText(name: string, rest = ""): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n${rest}---\n\n# How\n`;
}

it("finds the skills of a workspace and the person's own, which win over others of the same name", () => {
  using tree = new Tree({
    ".forge/skills/release/SKILL.md": skillText("release"),
    ".claude/skills/release/SKILL.md": skillText("release"),
    ".claude/skills/review/SKILL.md": skillText("review", "license: MIT\nallowed-tools: Read, Grep\n"),
    ".claude/skills/no-skill/README.md": "x",
  });
  using own = new Tree({ "skills/review/SKILL.md": skillText("review"), "skills/mine/SKILL.md": skillText("mine") });
  const { skills, problems } = findSkills({ root: tree.path, configDirectory: own.path });
  expect(skills.map(({ name, source, scope, description }) => [name, source, scope, description])).toEqual([
    ["mine", own.at("skills/mine/SKILL.md"), "user", "Does mine."],
    ["release", ".forge/skills/release/SKILL.md", "workspace", "Does release."],
    ["review", own.at("skills/review/SKILL.md"), "user", "Does review."],
  ]);
  expect(problems.map(({ source, message }) => `${source}: ${message.replace(own.path, "~")}`)).toEqual([
    ".claude/skills/release/SKILL.md: .forge/skills/release/SKILL.md has the same name and is used instead",
    ".claude/skills/review/SKILL.md: ~/skills/review/SKILL.md has the same name and is used instead",
  ]);
  expect(findSkills({ root: tree.path }).skills.map(({ scope }) => scope)).toEqual(["workspace", "workspace"]);
});

it.each([
  ["no front matter", "# Just text", "front matter"],
  ["no end", "---\nname: a\n", "front matter"],
  ["no YAML", "---\nname: [a\n---\n", "is no YAML"],
  ["a list", "---\n- a\n---\n", "is no mapping"],
  ["another name", skillText("b"), 'its directory is "a"'],
  ["a bad name", "---\nname: A/../b\ndescription: x\n---\n", "lower-case"],
  ["a name that is no text", "---\nname: 1\ndescription: x\n---\n", "lower-case"],
  ["no description", "---\nname: a\n---\n", "description"],
  ["a long description", `---\nname: a\ndescription: ${"x".repeat(1_025)}\n---\n`, "description"],
  ["a long front matter", `---\nname: a\nx: ${"y".repeat(9_000)}\n---\n`, "longer than"],
  [
    "aliases without end",
    `---\nname: a\ndescription: x\na0: &a0 [x, x]\n${Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join("")}---\n`,
    "can't be read",
  ],
  ["the same key twice", "---\nname: a\nname: a\ndescription: x\n---\n", "is no YAML"],
  ["tools that are no names", "---\nname: a\ndescription: x\nallowed-tools: {a: b}\n---\n", "allowed-tools"],
])("refuses %s", (_what, text, why) => {
  expect(() => parseSkill(text, "a")).toThrow(why);
});

it("reads the fields of a skill, and leaves the text as it is", () => {
  expect(parseSkill('---\r\nname: a\r\ndescription: "x: y"\r\nallowed-tools: Bash(git add:*), Read Grep\r\n---\r\n\r\nText\r\n---\r\n', "a")).toEqual({
    name: "a",
    description: "x: y",
    allowedTools: ["Bash(git add:*)", "Read", "Grep"],
    body: "Text\r\n---\r\n",
  });
  expect(parseSkill("---\nname: a\ndescription: x\nallowed-tools:\n  - tools.search\n---\n", "a").allowedTools).toEqual(["tools.search"]);
});

it("is bounded, follows no link out of the workspace, and lists nothing of what it refuses", () => {
  using outside = new Tree({ "stolen/SKILL.md": skillText("stolen") });
  using tree = new Tree({
    ...Object.fromEntries(
      Array.from({ length: 80 }, (_, n) => [`.forge/skills/s${String(n).padStart(2, "0")}/SKILL.md`, skillText(`s${String(n).padStart(2, "0")}`)]),
    ),
    ".claude/skills/large/SKILL.md": skillText("large") + "x".repeat(70_000),
    ".claude/skills/latin/SKILL.md": Buffer.from(`${skillText("latin")}\xe4`, "latin1"),
    ".claude/skills/dir/SKILL.md/x": "",
  });
  symlinkSync(outside.at("stolen"), tree.at(".claude/skills/stolen"));
  const { skills, problems } = findSkills({ root: tree.path });
  expect(skills).toHaveLength(64);
  expect(problems.map(({ source, message }) => `${source}: ${message.replace(/^"[^"]*" /, "")}`)).toEqual([
    ".forge/skills: only the first 64 of 80 skills are used",
    ".claude/skills/dir/SKILL.md: is a directory",
    ".claude/skills/large/SKILL.md: is larger than 65536 bytes",
    ".claude/skills/latin/SKILL.md: is not UTF-8 text",
    ".claude/skills/stolen/SKILL.md: goes through a link out of the workspace",
  ]);
});

it("says so where the place of skills is a file or leads out", () => {
  using outside = new Tree({ "x/SKILL.md": skillText("x") });
  using tree = new Tree({ ".forge/skills": "a file" });
  symlinkSync(outside.path, tree.at(".claude"));
  expect(findSkills({ root: tree.path })).toMatchObject({ skills: [], problems: [{ source: ".claude/skills" }] });
});

it("gives a skill's body and names its files, and runs nothing", async () => {
  using tree = new Tree({
    ".forge/skills/release/SKILL.md": skillText("release", "allowed-tools: Bash, Read\n"),
    ".forge/skills/release/scripts/run.sh": "touch ran",
    ".forge/skills/broken/SKILL.md": "nothing",
  });
  expect(readSkill({ root: tree.path }, "release")).toEqual({
    name: "release",
    description: "Does release.",
    source: ".forge/skills/release/SKILL.md",
    scope: "workspace",
    body: "# How\n",
    allowedTools: ["Bash", "Read"],
    files: ["scripts/run.sh"],
  });
  const tool = createSkillTool({ root: tree.path });
  expect([tool.name, tool.risk, tool.idempotent]).toEqual(["tools.skill", RiskLevel.READ, true]);
  expect(await tool.execute({ name: "release" })).toMatchObject({ body: "# How\n", allowed_tools: ["Bash", "Read"], files: ["scripts/run.sh"] });
  await expect(tool.execute({ name: "../release" })).rejects.toMatchObject({
    reason: "SKILL_NOT_FOUND",
    message: expect.stringContaining("there are: release"),
  });
  await expect(tool.execute({ name: "broken" })).rejects.toMatchObject({ message: expect.stringContaining("begins with no front matter") });
  expect(existsSync(tree.at("ran"))).toBe(false);
});

it("narrows tools, and never widens them", () => {
  const available = ["tools.read_file", "tools.search", "tools.shell", "mcp.git.log"];
  expect(narrowTools(available, undefined)).toEqual(available);
  expect(narrowTools(available, ["Read", "Grep", "Write", "tools.http", "agent.any"])).toEqual(["tools.read_file", "tools.search"]);
  expect(narrowTools(available, ["Bash(git:*)", "mcp__git__log"])).toEqual(["tools.shell", "mcp.git.log"]);
  expect(narrowTools(available, ["*", ""])).toEqual([]);
  expect(narrowTools([], ["Bash"])).toEqual([]);
});

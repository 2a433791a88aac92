// For the one who starts turns: what goes before a message, and how the budget was spent.
export { BUDGET_TOKENS, type BuiltContext, buildContext, type ContextOptions, type ContextPart } from "./budget/build-context.ts";
export { type ContextItem, type ContextReport, formatContextReport } from "./budget/context-report.ts";
export type { Problem } from "./files/problem.ts";
export { userConfigDirectory } from "./files/user-directory.ts";
export { type GitFacts, gitFacts } from "./git/git-facts.ts";
// For the one who opens a workspace.
export type { IndexStatus } from "./index/index-status.ts";
export { RepositoryIndex, type RepositoryIndexOptions } from "./index/repository-index.ts";
// For those who serve and list skills.
export { findSkills, type Skill, type SkillOptions } from "./skills/find-skills.ts";
export { narrowTools } from "./skills/narrow-tools.ts";
export { readSkill, type SkillContent } from "./skills/read-skill.ts";
export { createSkillTool } from "./skills/skill-tool.ts";

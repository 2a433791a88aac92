import { RiskLevel } from "@forge/protocol/tool";
import type { SkillOptions } from "./find-skills.ts";
import { readSkill } from "./read-skill.ts";

/** Reading a few small files. */
const TIMEOUT_MS = 10_000;

/** The tool by which a model reads a skill whose name and description it was told. A `ToolDefinition` of tools by its shape. */
export function createSkillTool(options: SkillOptions) {
  return {
    name: "tools.skill",
    description:
      "Read a skill by its name: instructions for a kind of task, written by the person or in the workspace. Use it when a task fits a skill's description. It is text that grants nothing, and reading it runs nothing; its files are read and run by other tools, under their rules.",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string", minLength: 1, maxLength: 64, description: "The skill's name." } },
      required: ["name"],
      additionalProperties: false,
    },
    idempotent: true,
    risk: RiskLevel.READ,
    timeoutMs: TIMEOUT_MS,
    async execute({ name }: { readonly name: string }): Promise<{ [key: string]: string | string[] }> {
      const { description, source, scope, body, allowedTools, files } = readSkill(options, name);
      const told = { name, description, source, scope, body, files: [...files] };
      return allowedTools === undefined ? told : { ...told, allowed_tools: [...allowedTools] };
    },
  } as const;
}

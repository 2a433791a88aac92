import type { JsonObject } from "@bufbuild/protobuf";
import { z } from "zod";
import { RuntimeConfigSchema } from "../project/config-schema.ts";
import { agentLoopProperties } from "./agent-loop-schema.ts";
import { conditional, DIALECT, duration, id, KEY, mapping, names, text, version, wholeNumber } from "./schema-parts.ts";
import { stepSchema } from "./step-schema.ts";

/** The files that an editor can check while they are written. */
export type SchemaName = "workflow" | "agent" | "runtime";

/** The JSON Schemas (2020-12) of a project's YAML, for editors; what they let pass the parser may still refuse, with more to say. */
export const editorSchemas: Readonly<Record<SchemaName, () => JsonObject>> = { workflow, agent, runtime };

function workflow(): JsonObject {
  const declaration = mapping("An input that the caller gives.", {
    description: { type: "string", maxLength: 4096 },
    required: { type: "boolean", description: "Without it: true where there is no default." },
    default: { description: "Any value." },
  });
  return {
    $schema: DIALECT,
    title: "A Forge workflow",
    ...mapping(
      "A workflow: its id and version, its inputs and its steps.",
      {
        schema_version: version("v1."),
        workflow: mapping(
          "What the workflow is called.",
          { id: id("The workflow's id."), version: version("v1, v2, ..."), description: { type: "string", maxLength: 4096 } },
          ["id", "version"],
        ),
        inputs: {
          description: "The inputs that the caller gives: a mapping, or a list of names.",
          anyOf: [
            {
              type: "object",
              propertyNames: { maxLength: 128, pattern: KEY },
              additionalProperties: { anyOf: [{ type: "null" }, declaration] },
              maxProperties: 1000,
            },
            names("Names of inputs, all required."),
          ],
        },
        inputs_contract: names("The older form of a list of inputs."),
        on_error: { enum: ["fail_fast", "continue"], description: "What follows when a step fails for good." },
        parallel_max: wholeNumber("Steps, and items of for_each, that may be under way at once; without it: 16.", 1, 1000),
        priority: wholeNumber("Where something is scarce, what belongs to a run of higher priority goes first; without it: 0.", 0, 9),
        concurrency: {
          description: "What runs share of which only so many may be under way at a time.",
          anyOf: [
            text("The key; a text with {{ expression }} over `inputs`.", 256),
            mapping(
              "The key, and how many runs may hold it.",
              { key: text("A text with {{ expression }} over `inputs`.", 256), limit: wholeNumber("Runs at a time; without it: 1.", 1, 1000) },
              ["key"],
            ),
          ],
        },
        deadline: duration("Of the whole run, waits and pauses included; at most 366 days."),
        steps: { type: "array", items: stepSchema(), minItems: 1, maxItems: 10_000 },
      },
      ["workflow", "steps"],
    ),
    not: { required: ["inputs", "inputs_contract"] },
    // Where a step has needs, steps don't branch; where none has, they don't skip.
    ...conditional(
      { properties: { steps: { contains: { properties: { needs: { anyOf: [{ type: "string" }, { type: "array", minItems: 1 }] } }, required: ["needs"] } } } },
      { properties: { steps: { items: { properties: { next: false } } } } },
      { properties: { steps: { items: { properties: { when: false } } } } },
    ),
  };
}

function agent(): JsonObject {
  const model = text("provider/model, for example openai/gpt-5; without it the project's default_model.", 256);
  const system = text("Who the agent is.", 65_536);
  const prompt = text("The user message; a text with {{ expression }} over `inputs` (the step's) and `state`.", 65_536);
  return {
    $schema: DIALECT,
    title: "A Forge agent",
    ...mapping(
      "An agent: its model, its prompt and its tools.",
      {
        schema_version: version("v1."),
        prompts: prompts(),
        agent: {
          ...mapping(
            "The agent.",
            {
              id: id("The agent's id."),
              version: version("v1, v2, ..."),
              description: { description: "What the agent is for." },
              model,
              system,
              prompt,
              prompts: prompts(),
              prompts_file: text("A file with more of them, from the agent's folder on.", 1024),
              pipeline: {
                description: "Model and tool steps, one after the other, in place of a prompt. A prompt sees the steps before it by their ids.",
                type: "array",
                minItems: 1,
                maxItems: 64,
                items: {
                  anyOf: [
                    mapping("A model call.", { id: id("Its name for the steps after it."), type: { const: "model" }, prompt, model, system }, [
                      "type",
                      "prompt",
                    ]),
                    mapping(
                      "A tool call.",
                      {
                        id: id("Its name for the steps after it."),
                        type: { const: "tool" },
                        tool: text("One of the agent's tools.", 128),
                        inputs: { type: "object" },
                      },
                      ["type", "tool"],
                    ),
                  ],
                },
              },
              output_key: text("The key of the answer's text in the step's output; without it: text.", 128),
              params: { type: "object", description: "temperature and max_tokens, in place of the agent's." },
              strategy: {
                description: "single: one model call; react: as many as its loop takes.",
                anyOf: [
                  { enum: ["single", "react"] },
                  mapping("How the agent works.", {
                    type: { enum: ["single", "react"] },
                    max_iterations: wholeNumber("Model calls of react.", 1, 1000),
                    stop_conditions: { description: "Taken and not used." },
                  }),
                ],
              },
              tools: { type: "array", items: text("A tool's name.", 128), description: "Tools that the agent may call." },
              temperature: { type: "number", minimum: 0, maximum: 2 },
              max_tokens: wholeNumber("Of one answer.", 1, 10_000_000),
              auto_tool_prompt: { description: "Taken and not used: tools are described to the model in any case." },
              ...agentLoopProperties(),
            },
            ["id", "version"],
          ),
          oneOf: [{ required: ["prompt"] }, { required: ["pipeline"] }],
        },
      },
      ["agent"],
    ),
  };
}

function prompts(): JsonObject {
  return {
    description: "Prompts that are named prompts.<id> or prompts.<id>@v2. Of those with a weight, each execution takes one.",
    type: "array",
    items: mapping(
      "A prompt.",
      {
        id: text("Its id.", 128, "^[A-Za-z0-9_.-]+$"),
        version: version("v1, v2, ..."),
        text: text("What it says.", 65_536),
        description: { description: "What it is for." },
        weight: { type: "number", minimum: 0, maximum: 1_000_000 },
      },
      ["id", "text"],
    ),
  };
}

function runtime(): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(RuntimeConfigSchema, { io: "input" }) as JsonObject;
  return { $schema: DIALECT, title: "A Forge project's runtime.yaml", ...schema };
}

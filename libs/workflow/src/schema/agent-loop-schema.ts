import type { JsonObject } from "@bufbuild/protobuf";
import { HOOK_POINTS, SHIPPED_HOOK_NAMES } from "../agent/read-hooks.ts";
import { ERROR_RECOVERIES } from "../agent/read-loop.ts";
import { SUB_AGENT_HISTORIES } from "../agent/read-sub-agents.ts";
import { duration, mapping, text, wholeNumber } from "./schema-parts.ts";

/** What an agent's file says of its loop and what is around it. */
export function agentLoopProperties(): JsonObject {
  return {
    hooks: {
      description: "Called in order at their points: shipped ones by name, or mappings.",
      type: "array",
      maxItems: 16,
      items: { anyOf: [{ enum: SHIPPED_HOOK_NAMES }, hook()] },
    },
    error_recovery: { enum: ERROR_RECOVERIES, description: "What becomes of the turn when a tool call fails; without it: return, the model is told." },
    fallback_models: {
      description: "Models that are tried in order where a call to the one before failed for good.",
      type: "array",
      items: text("provider/model.", 256),
      uniqueItems: true,
      maxItems: 3,
    },
    output_schema: {
      description: "The JSON Schema (2020-12) that the last answer must match, written out, or a .json file of the project.",
      anyOf: [{ type: ["object", "boolean"] }, { type: "string", pattern: "\\.json$" }],
    },
    context_window: wholeNumber("Tokens that fit into the model's context.", 256, 1_000_000_000),
    sub_agents: {
      description: "Agents that it may call as tools, agent.<name>: id or id@v1, or mappings.",
      type: "array",
      maxItems: 16,
      items: { anyOf: [reference(), subAgent()] },
    },
    budget: budget(),
  };
}

function hook(): JsonObject {
  const point = { enum: HOOK_POINTS };
  return {
    ...mapping(
      "A hook.",
      {
        name: text("A shipped one, or one that a worker serves.", 128, "^[!-~]+$"),
        at: { description: "Where it is called.", anyOf: [point, { type: "array", items: point, minItems: 1, uniqueItems: true }] },
        config: { type: "object", description: "Its own settings; at most 4 KiB of JSON." },
        timeout: duration("Of one call; at most 5 minutes, without it 10 seconds."),
      },
      ["name"],
    ),
    anyOf: [{ required: ["at"] }, { properties: { name: { enum: SHIPPED_HOOK_NAMES } } }],
  };
}

function reference(): JsonObject {
  return text("An agent of the project: id, or id@v1.", 256, "^[A-Za-z0-9_-]{1,128}(@.{1,64})?$");
}

function subAgent(): JsonObject {
  return mapping(
    "An agent of the project that this one may call.",
    {
      agent: reference(),
      name: text("Its tool is agent.<name>; without it: the agent's id.", 64, "^[a-z0-9_-]+$"),
      description: { type: "string", maxLength: 1024, description: "For the model that calls it; without it: the agent's own." },
      history: {
        enum: SUB_AGENT_HISTORIES,
        description: "What it knows of the conversation: nothing; all up to the call; the same, with tools that only read.",
      },
    },
    ["agent"],
  );
}

function budget(): JsonObject {
  return mapping("Bounds of one turn; each ends it.", {
    model_calls: wholeNumber("Model calls of react, in place of its max_iterations.", 1, 1000),
    tool_calls: wholeNumber("Tool calls; without it: 128.", 0, 10_000),
    tokens: wholeNumber("Input and output tokens together.", 1, Number.MAX_SAFE_INTEGER),
    cost: { type: "number", minimum: 0.000_001, maximum: 1_000_000, description: "Dollars." },
    wall_time: duration("At most 30 days; without it 25 hours."),
    steps: wholeNumber("Model calls with the rounds that hooks add; without it: 64.", 1, 1000),
  });
}

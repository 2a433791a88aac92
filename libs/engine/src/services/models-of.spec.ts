import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@forge/protocol/session";
import { expect, it } from "vitest";
import { modelsOf } from "./models-of.ts";

it("names an agent's model, those that stand in for it, and those of its sub-agents, each once", () => {
  const agent = create(AgentSpecSchema, {
    model: "a/1",
    fallbackModels: ["a/2"],
    subAgents: [{ name: "x", agent: { model: "a/2", subAgents: [{ name: "y", agent: { model: "a/3" } }] } }, { name: "z" }],
  });
  expect(modelsOf(agent)).toEqual(["a/1", "a/2", "a/3"]);
  expect(modelsOf(undefined)).toEqual([]);
});

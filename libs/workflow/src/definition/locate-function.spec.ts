import { create } from "@bufbuild/protobuf";
import { WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { expect, it } from "vitest";
import { locateFunction } from "./locate-function.ts";

it("finds where a workflow's text first names a function", () => {
  const workflowYaml = 'steps:\n  - id: a\n    function: x.y\n  - {id: b, type: function, function: "x.z"}\n  - {id: c, function: x.z}\n';
  const definition = create(WorkflowDefinitionSchema, { workflowYaml });
  expect(locateFunction(definition, "x.y")).toEqual({ line: 3, column: 15 });
  expect(locateFunction(definition, "x.z")).toEqual({ line: 4, column: 39 });
  expect(locateFunction(definition, "x")).toBeUndefined();
  expect(locateFunction(create(WorkflowDefinitionSchema), "x")).toBeUndefined();
});

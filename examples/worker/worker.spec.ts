import { definitionReferences, resolveWorkflow } from "@forge/workflow";
import { describe, expect, it } from "vitest";
import { look, quote, take } from "./my-tools.ts";

describe("the worker example", () => {
  it("has a workflow that calls what its file defines", async () => {
    const { definition, project, warnings } = await resolveWorkflow(".", { directory: import.meta.dirname });
    expect([warnings, project.warnings]).toStrictEqual([[], []]);
    const { functions, tools } = definitionReferences(definition);
    expect([functions, tools]).toStrictEqual([[quote.name], [take.name]]);
  });

  it("tells a model what its tools take", () => {
    expect(JSON.parse(look.spec.inputSchemaJson)).toMatchObject({ required: ["item"], properties: { item: { description: expect.stringContaining("lamp") } } });
  });
});

import { ForgeError } from "@forge/protocol";
import type { WorkflowDefinition } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { projectFiles } from "../testing/project-files.ts";
import { resolveWorkflow } from "./resolve-workflow.ts";

const workflow = (id: string, ...others: string[]): string =>
  `workflow: {id: ${id}, version: v1}\nsteps:\n${(others.length === 0 ? ["tool: t"] : others.map((other) => `workflow: ${other}`)).map((kind, index) => `  - {id: s${index}, ${kind}}`).join("\n")}\n`;

async function load(files: Readonly<Record<string, string>>, reference = "a"): Promise<WorkflowDefinition> {
  await using project = await projectFiles({ "runtime.yaml": "", ...files });
  return (await resolveWorkflow(reference, { directory: project.root })).definition;
}

async function problems(files: Readonly<Record<string, string>>): Promise<string[]> {
  try {
    await load(files);
  } catch (error) {
    if (error instanceof ForgeError) return error.message.split("\n");
    throw error;
  }
  throw new Error("it was accepted");
}

function inner(definition: WorkflowDefinition, step: number): WorkflowDefinition | undefined {
  const kind = definition.steps[step]?.kind;
  return kind?.case === "workflow" ? kind.value.definition : undefined;
}

describe("the workflows that a workflow names", () => {
  it("are in it whole: by id, by version, by path from the project, by path from the file", async () => {
    const definition = await load({
      "workflows/a.yaml": workflow("a", "b", "b@v1", "parts/c.yaml", "./more/d.yaml"),
      "workflows/b-v1.yaml": workflow("b"),
      "workflows/b-v2.yaml": workflow("b", "d").replace("v1", "v2"),
      "parts/c.yaml": workflow("c"),
      "workflows/more/d.yaml": workflow("d"),
    });
    expect([0, 1, 2, 3].map((step) => inner(definition, step)).map((nested) => `${nested?.id}@${nested?.version}`)).toEqual(["b@v2", "b@v1", "c@v1", "d@v1"]);
    expect(inner(inner(definition, 0) as WorkflowDefinition, 0)).toEqual(inner(definition, 3));
    expect(inner(definition, 2)?.workflowYaml).toBe(workflow("c"));
  });

  it("may not contain each other", async () => {
    expect(await problems({ "workflows/a.yaml": workflow("a", "b"), "workflows/b.yaml": workflow("b", "c"), "workflows/c.yaml": workflow("c", "b") })).toEqual([
      "workflows/c.yaml:3:24: workflows that contain each other: b -> c -> b; expected an end to it",
    ]);
    expect(await problems({ "workflows/a.yaml": workflow("a", "a") })).toEqual([
      "workflows/a.yaml:3:24: workflows that contain each other: a -> a; expected an end to it",
    ]);
  });

  it("are nested eight deep, and no deeper", async () => {
    const files = (depth: number): Record<string, string> =>
      Object.fromEntries(
        Array.from({ length: depth + 1 }, (_, level) => {
          const id = level === 0 ? "a" : `a${level}`;
          return [`workflows/${id}.yaml`, level === depth ? workflow(id) : workflow(id, `a${level + 1}`)];
        }),
      );
    expect((await load(files(8))).id).toBe("a");
    expect(await problems(files(9))).toEqual([
      "workflows/a8.yaml:3:24: workflows are nested more than 8 deep: a -> a1 -> a2 -> a3 -> a4 -> a5 -> a6 -> a7 -> a8 -> a9",
    ]);
  });

  it("say where they are wrong, and where they are missing", async () => {
    expect(await problems({ "workflows/a.yaml": workflow("a", "b"), "workflows/b.yaml": workflow("b").replace("tool", "tol") })).toEqual([
      "workflows/b.yaml:3:5: step s0 has no type; expected one of agent, function, tool, wait, workflow",
      expect.stringMatching(/^workflows\/b\.yaml:3:14: unknown key in step s0 `tol`/) as string,
    ]);
    const [unknown, ...others] = await problems({ "workflows/a.yaml": workflow("a", "bb", "x.yaml", "../up.yaml"), "workflows/b.yaml": workflow("b") });
    expect(unknown).toMatch(/^workflows\/a\.yaml:3:24: unknown workflow `bb`; expected one of a, b; did you mean `b`\? \(looked in /);
    expect(others).toEqual([
      expect.stringMatching(/^workflows\/a\.yaml:4:24: file: there is no file .*\/x\.yaml$/) as string,
      expect.stringMatching(/^workflows\/a\.yaml:5:24: file: there is no file .*\/up\.yaml$/) as string,
    ]);
    expect((await problems({ "workflows/a.yaml": workflow("a", "../../up.yaml") }))[0]).toMatch(/`\.\.\/\.\.\/up\.yaml` lies outside of the project/);
  });

  it("that one of them names often is read once, and too many are refused before they are made", async () => {
    const text = `# ${"x".repeat(1_000_000)}\n${workflow("b")}`;
    const [problem] = await problems({ "workflows/a.yaml": workflow("a", ...Array.from({ length: 3_000 }, () => "b")), "workflows/b.yaml": text });
    expect(problem).toBe("workflows/a.yaml:7:24: the workflows that this one names take more than 4194304 bytes together");
  });
});

it("a schema is read from the project, and from nowhere else", async () => {
  const step = (path: string): string => `workflow: {id: a, version: v1}\nsteps: [{id: s, tool: t, output_schema: ${path}}]\n`;
  const { steps } = await load({ "workflows/a.yaml": step("schemas/s.json"), "schemas/s.json": '\uFEFF{\r\n\t"type": "object"\r\n}' });
  expect(steps[0]?.outputSchemaJson).toBe('{"type":"object"}');
  expect(await problems({ "workflows/a.yaml": step("schemas/s.json"), "schemas/s.json": "{" })).toEqual([
    "workflows/a.yaml:2:41: output_schema: schemas/s.json is no JSON Schema (2020-12): it is not valid JSON",
  ]);
  expect((await problems({ "workflows/a.yaml": step("/etc/s.json") }))[0]).toContain("2:41: output_schema: `/etc/s.json` lies outside of the project");
});

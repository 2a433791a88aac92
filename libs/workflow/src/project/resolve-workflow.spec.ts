import { join } from "node:path";
import { checkDefinition } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { definitionReferences } from "../definition/definition-references.ts";
import { projectFiles } from "../testing/project-files.ts";
import { findProject } from "./find-project.ts";
import { openProject } from "./project.ts";
import { resolveWorkflow } from "./resolve-workflow.ts";
import { listWorkflows } from "./workflow-registry.ts";

const workflow = (id: string, version: string, agent?: string): string =>
  `workflow: {id: ${id}, version: ${version}}\nsteps: [${agent === undefined ? "{id: a, type: tool, tool: t}" : `{id: a, type: agent, agent: ${agent}}`}]\n`;
const agent = (version: string, prompt: string): string => `agent: {id: helper, version: ${version}, model: demo/echo, prompt: ${prompt}}\n`;

const FILES = {
  "runtime.yaml": "default_workflow: one\n",
  "workflows/one-v2.yaml": workflow("one", "v2"),
  "workflows/old/one-v10.yml": workflow("one", "v10", "helper"),
  "workflows/two.yaml": workflow("two", "v1", "helper@v1"),
  "workflows/broken.yaml": "workflow: {id: broken, version: v1}\nsteps: [{id: a, type: tol}]\n",
  "workflows/notes.yaml": "just: notes\n",
  "workflows/README.md": "no workflow",
  "agents/helper.yaml": agent("v1", "one"),
  "agents/helper-v2.yaml": agent("v2", "two"),
  "agents/broken.yaml": "agent: {id: bad, version: v1, model: demo/echo}\n",
  "agents/unreadable.yaml": "agent: [\n",
  "nested/deep/file.txt": "",
};

async function failure(work: Promise<unknown>): Promise<ForgeError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ForgeError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("resolveWorkflow", () => {
  it("takes the latest version by its numbers, an exact one, a file, and a directory", async () => {
    await using files = await projectFiles(FILES);
    const from = { directory: join(files.root, "nested/deep") };
    const resolved = async (reference: string, options = from): Promise<string> => {
      const { definition, project } = await resolveWorkflow(reference, options);
      return `${definition.id}@${definition.version} in ${project.root === files.root ? "." : project.root}`;
    };
    expect(await resolved("one")).toBe("one@v10 in .");
    expect(await resolved("one@v2")).toBe("one@v2 in .");
    expect(await resolved("one@2")).toBe("one@v2 in .");
    expect(await resolved("../../workflows/two.yaml")).toBe("two@v1 in .");
    expect(await resolved("../..")).toBe("one@v10 in .");
    expect(await resolved(files.root, { directory: "/" })).toBe("one@v10 in .");
  });

  it("says what is wrong with a file that names no workflow, where it must be the one that is meant", async () => {
    await using files = await projectFiles({ "runtime.yaml": "", "workflows/tabs.yaml": "workflow:\n\tid: tabs\n" });
    for (const reference of ["tabs", "."]) {
      const { message } = await failure(resolveWorkflow(reference, { directory: files.root }));
      expect(message).toMatch(/^workflows\/tabs\.yaml:2:\d+: a tab in the indentation/);
    }
    expect((await failure(resolveWorkflow("other", { directory: files.root }))).reason).toBe("WORKFLOW_NOT_FOUND");
  });

  it("takes agents by exact version and the latest otherwise", async () => {
    await using files = await projectFiles(FILES);
    const prompt = async (reference: string): Promise<string | undefined> => {
      const { kind } = (await resolveWorkflow(reference, { directory: files.root })).definition.steps[0] ?? {};
      return kind?.case === "agent" ? kind.value.prompt : undefined;
    };
    expect([await prompt("one"), await prompt("two")]).toStrictEqual(["two", "one"]);
  });

  it("says what there is where something is not", async () => {
    await using files = await projectFiles(FILES);
    const from = { directory: files.root };
    const unknown = await failure(resolveWorkflow("oen", from));
    expect([unknown.code, unknown.reason]).toStrictEqual([ErrorCode.NOT_FOUND, "WORKFLOW_NOT_FOUND"]);
    expect(unknown.message).toContain("unknown workflow `oen`; expected one of broken, one, two; did you mean `one`?");
    expect((await failure(resolveWorkflow("one@v3", from))).message).toContain("unknown workflow `one@v3`; expected one of one@v2, one@v10");
    expect((await failure(resolveWorkflow("none.yaml", from))).message).toBe(`workflow: there is no file ${files.root}/none.yaml`);
    expect((await failure(resolveWorkflow("nested/deep", from))).code).toBe(ErrorCode.NOT_FOUND);
    expect((await failure(resolveWorkflow("broken", from))).message).toContain("workflows/broken.yaml:2:23: unknown type `tol`");
  });

  it("shows what is wrong in an agent's file, with the workflow's own problems", async () => {
    await using files = await projectFiles({
      ...FILES,
      "workflows/x.yaml": `${workflow("x", "v1", "bad")}on_error: stop\n`,
      "workflows/y.yaml": workflow("y", "v1", "hlper"),
    });
    const bad = await failure(resolveWorkflow("x", { directory: files.root }));
    expect(bad.message.split("\n")).toStrictEqual([
      "workflows/x.yaml:3:11: unknown on_error `stop`; expected one of fail_fast, continue",
      "agents/broken.yaml:1:1: agent has no prompt; expected `prompt`, or a pipeline",
    ]);
    const unknown = await failure(resolveWorkflow("y", { directory: files.root }));
    expect(unknown.message).toBe("workflows/y.yaml:2:37: unknown agent `hlper`; expected one of bad, helper; did you mean `helper`?");
  });

  it("takes an agent with hooks, a budget, a schema and agents that it calls, as whoever checks definitions does", async () => {
    await using files = await projectFiles({
      ...FILES,
      "agents/team/lead.yaml": `
agent:
  id: lead
  version: v1
  model: demo/echo
  prompt: "{{ state.inputs }}"
  strategy: react
  tools: [tools.file]
  hooks: [forge.tool_enforcement, {name: mine, at: [on_post_llm]}]
  error_recovery: stop
  fallback_models: [demo/chat]
  output_schema: ./answer.json
  context_window: 8000
  budget: {cost: 1.5}
  sub_agents: [middle, helper@v1, {agent: helper, name: second, history: shared}]
`,
      "agents/team/answer.json": '{"type": "object"}',
      "agents/middle.yaml":
        "agent: {id: middle, version: v1, description: Stands between., model: demo/sub, prompt: '{{ inputs.task }}', strategy: react, sub_agents: [helper]}",
      "workflows/led.yaml": workflow("led", "v1", "lead"),
    });
    const { definition, warnings } = await resolveWorkflow("led", { directory: files.root });
    expect(checkDefinition(definition, { sha256: () => "" })).not.toHaveProperty("rejection");
    expect(definitionReferences(definition)).toStrictEqual({ functions: [], tools: ["tools.file"], models: ["demo/echo", "demo/chat", "demo/sub"] });
    const kind = definition.steps[0]?.kind;
    const spec = kind?.case === "agent" ? kind.value.agent : undefined;
    expect(spec).toMatchObject({ outputSchemaJson: '{"type":"object"}', contextWindowTokens: 8000, budget: { modelCalls: 10, costMicroUsd: 1_500_000n } });
    expect(spec?.subAgents.map(({ name, description, agent: sub }) => [name, description, sub?.subAgents.map((below) => below.name)])).toStrictEqual([
      ["middle", "Stands between.", ["helper"]],
      ["helper", "", []],
      ["second", "", []],
    ]);
    expect(warnings.map((warning) => warning.split(":")[0])).toStrictEqual(["agents/middle.yaml", "agents/team/lead.yaml", "agents/team/lead.yaml"]);
  });

  it("refuses agents that call each other, from wherever they are named, and shows what is wrong with one that is called", async () => {
    const calling = (id: string, called: string): string =>
      `agent: {id: ${id}, version: v1, model: demo/echo, prompt: "{{ inputs.a }}", strategy: react, sub_agents: [${called}]}`;
    await using files = await projectFiles({
      ...FILES,
      "agents/x.yaml": calling("x", "y"),
      "agents/y.yaml": calling("y", "z"),
      "agents/z.yaml": calling("z", "x@v1"),
      "agents/self.yaml": calling("self", "self"),
      "agents/outer.yaml": calling("outer", "y"),
      "agents/worse.yaml": calling("worse", "bad"),
    });
    const message = async (id: string): Promise<string> => (await failure(resolveWorkflow(id, { directory: files.root }))).message;
    const end = "expected an end to it";
    expect(await message("x")).toBe(`agents/z.yaml:1:103: agents that call each other: x@v1 -> y@v1 -> z@v1 -> x@v1; ${end}`);
    expect(await message("outer")).toBe(`agents/x.yaml:1:103: agents that call each other: y@v1 -> z@v1 -> x@v1 -> y@v1; ${end}`);
    expect(await message("self")).toBe(`agents/self.yaml:1:106: agents that call each other: self@v1 -> self@v1; ${end}`);
    expect(await message("worse")).toBe("agents/broken.yaml:1:1: agent has no prompt; expected `prompt`, or a pipeline");
  });

  it("runs an agent by its id, before a workflow of the same, with what its prompts read as inputs", async () => {
    await using files = await projectFiles({
      ...FILES,
      "agents/one.yaml": "agent: {id: one, version: v2, model: demo/echo, prompt: 'Say {{ inputs.a }} and {{ inputs.b }}'}",
      "agents/two.yaml":
        "agent: {id: two, version: v1, model: demo/echo, tools: [tools.echo], pipeline: [{id: look, type: model, prompt: 'Look at {{ inputs.a }}'}, {id: say, type: tool, tool: tools.echo, inputs: {message: look.text, more: inputs.a, rest: a.b}}, {id: close, type: model, prompt: '{{ look.text }}/{{ say.message }}/{{ inputs.a }}'}]}",
    });
    const single = await resolveWorkflow("one", { directory: files.root, inputs: ["b", "c"] });
    expect(single.definition).toMatchObject({ id: "one_auto", version: "v2" });
    expect(single.definition.inputs.map(({ name, required }) => [name, required])).toStrictEqual([
      ["a", true],
      ["b", true],
      ["c", false],
    ]);
    expect(single.definition.steps[0]).toMatchObject({ id: "one", kind: { case: "agent" }, inputs: { c: { kind: { case: "path", value: "inputs.c" } } } });
    const { definition } = await resolveWorkflow("two@v1", { directory: files.root });
    const kind = definition.steps[0]?.kind;
    const inner = kind?.case === "workflow" ? kind.value.definition : undefined;
    expect(inner?.steps.map(({ id }) => id)).toStrictEqual(["look", "say", "close"]);
    expect(inner?.steps[1]?.inputs).toMatchObject({
      message: { kind: { case: "path", value: "steps.look.text" } },
      more: { kind: { case: "path", value: "inputs.a" } },
      rest: { kind: { case: "literalJson", value: '"a.b"' } },
    });
    const last = inner?.steps[2]?.kind;
    expect(last?.case === "agent" && last.value.prompt).toBe("{{ state.steps.look.text }}/{{ state.steps.say.message }}/{{ inputs.a }}");
    expect(checkDefinition(definition, { sha256: () => "" })).toMatchObject({ definition: { id: "two_auto" } });
  });

  it("refuses two files for one version", async () => {
    await using files = await projectFiles({ ...FILES, "workflows/again.yaml": workflow("one", "v10") });
    expect((await failure(resolveWorkflow("one", { directory: files.root }))).message).toBe(
      "workflows/again.yaml and workflows/old/one-v10.yml both are workflow one@v10; expected one file for each version",
    );
  });

  it("runs a project's only workflow, and asks where there are several", async () => {
    await using only = await projectFiles({ "workflows/a.yaml": workflow("solo", "v1") });
    expect((await resolveWorkflow(only.root, { directory: "/" })).definition.id).toBe("solo");
    await using several = await projectFiles({ "runtime.yaml": "", "workflows/a.yaml": workflow("a", "v1"), "workflows/b.yaml": workflow("b", "v1") });
    expect((await failure(resolveWorkflow(".", { directory: several.root }))).message).toContain(
      "has 2 workflows: a, b; name one, or set default_workflow in runtime.yaml",
    );
    await using none = await projectFiles({ "runtime.yaml": "" });
    expect((await failure(resolveWorkflow(".", { directory: none.root }))).message).toBe(`there is no workflow in ${none.root}/workflows`);
  });

  it("prefers an id of the project to a directory of that name, and takes the directory otherwise", async () => {
    await using files = await projectFiles({ ...FILES, "two/workflows/x.yaml": workflow("inner", "v1"), "three/workflows/x.yaml": workflow("inner", "v1") });
    expect((await resolveWorkflow("two", { directory: files.root })).definition.id).toBe("two");
    expect((await resolveWorkflow("three", { directory: files.root })).definition.id).toBe("inner");
  });
});

describe("projects", () => {
  it("begin at the nearest directory with .forge or runtime.yaml", async () => {
    await using files = await projectFiles({ ".forge/x": "", "inner/runtime.yaml": "", "inner/a/b/c": "", "other/d": "" });
    expect(await findProject(join(files.root, "inner/a/b"))).toBe(join(files.root, "inner"));
    expect(await findProject(join(files.root, "other"))).toBe(files.root);
  });

  it("list their workflows in order", async () => {
    await using files = await projectFiles(FILES);
    const project = await openProject(files.root);
    expect((await listWorkflows(project)).map(({ id, version }) => `${id}@${version}`)).toStrictEqual(["broken@v1", "one@v2", "one@v10", "two@v1"]);
  });
});

describe("bounds of model calls that nothing keeps", () => {
  const written = (limits: string) => ({
    "runtime.yaml": limits,
    "agents/a.yaml": agent("v1", "hi"),
    "workflows/a.yaml": workflow("calls", "v1", "helper"),
    "workflows/b.yaml": workflow("plain", "v1"),
  });

  it.each(["calls", "helper", "helper@v1"])("refuse %s, which calls models, each with its place and what bounds them instead", async (reference) => {
    await using files = await projectFiles(written("llm:\n  limits:\n    max_cost_usd_per_run: 0.5\n    rate_limit_rpm: 60\n"));
    const error = await failure(resolveWorkflow(reference, { directory: files.root }));
    expect([error.code, error.reason]).toEqual([ErrorCode.UNSUPPORTED, "CONFIG_VALIDATION"]);
    expect(error.message.replaceAll(/[^\n]*runtime\.yaml/g, "runtime.yaml").split("\n")).toEqual([
      expect.stringMatching(/^runtime\.yaml:4:5: llm\.limits\.rate_limit_rpm is not supported: /),
      expect.stringMatching(
        /^runtime\.yaml:3:5: llm\.limits\.max_cost_usd_per_run is not supported: write `budget: \{cost: \.\.\.\}` in the agents, or set it to 0$/,
      ),
    ]);
  });

  it("are found under their other name, and don't matter at 0 or where no model is called", async () => {
    await using other = await projectFiles(written("llm_limits: {max_requests_per_run: 3}\n"));
    expect((await failure(resolveWorkflow("calls", { directory: other.root }))).message).toContain(
      "runtime.yaml:1:14: llm.limits.max_requests_per_run is not supported",
    );
    expect((await resolveWorkflow("plain", { directory: other.root })).definition.id).toBe("plain");
    await using none = await projectFiles(written("llm_limits: {max_requests_per_run: 0, max_cost_usd_per_run: 0.0}\n"));
    expect((await resolveWorkflow("calls", { directory: none.root })).definition.id).toBe("calls");
  });
});

import { expect, it } from "vitest";
import { projectFiles } from "../testing/project-files.ts";
import { checkFunctions } from "./check-functions.ts";
import { checkPython, checkPythonWorkflow } from "./check-python.ts";
import { openProject } from "./project.ts";
import { loadWorkflow } from "./resolve-workflow.ts";

const HEAD = "schema_version: v1\nworkflow: {id: w, version: v1}\n";

async function problems(functions: readonly string[], files: Readonly<Record<string, string>>): Promise<string[]> {
  const steps = functions.map((name, index) => `  - {id: s${index}, type: function, function: ${name}}\n`).join("");
  await using made = await projectFiles({ "runtime.yaml": "", "workflows/w.yaml": `${HEAD}steps:\n${steps}`, ...files });
  const project = await openProject(made.root, {});
  const errors = await checkFunctions(await loadWorkflow(project, `${made.root}/workflows/w.yaml`), project);
  return errors.map(({ reason, message, detail: { metadata } }) => {
    const { file, line, column } = metadata;
    return `${file}:${line}:${column} ${reason} ${message.replaceAll(made.root, "")}`;
  });
}

it("finds functions of both languages, below directories and by their name alone", async () => {
  const files = {
    "functions/a.ts": "export function one() {}",
    "functions/b.py": "def two(inputs): ...",
    "functions/c/d.py": "def three(inputs): ...",
    "functions/open.py": "from somewhere import *",
    "functions/tests/test_b.py": "def two(inputs): ...",
  };
  expect(await problems(["a.one", "b.two", "c.d.three", "three", "open.whatever"], files)).toEqual([]);
});

it("says where a function that is missing is named, and which is nearest", async () => {
  const files = { "functions/a.ts": "export function greet() {}", "functions/b.py": "def greet_all(inputs): ...\nclass Shape: ..." };
  expect(await problems(["a.gret", "b.greet_al", "bb.greet", "b.Shape", "lonely"], files)).toEqual([
    "workflows/w.yaml:4:40 FUNCTION_NOT_SERVED function `a.gret`: unknown function `gret`; expected greet; did you mean `greet`? (looked in functions/a.ts)",
    expect.stringContaining("did you mean `greet_all`? (looked in functions/b.py)"),
    expect.stringContaining("unknown module `bb`; expected one of a, b"),
    expect.stringContaining("unknown function `Shape`"),
    expect.stringContaining("unknown function `lonely`"),
  ]);
});

it("refuses a name that two files have, and names both", async () => {
  const files = {
    "functions/stubs.py": "def summary(inputs): ...\ndef other(inputs): ...",
    "functions/stubs.ts": "export function summary() {}",
    "functions/more.py": "def other(inputs): ...",
  };
  expect(await problems(["stubs.summary", "stubs.other", "other"], files)).toEqual([
    "workflows/w.yaml:4:40 FUNCTION_AMBIGUOUS function `stubs.summary`: functions/stubs.py and functions/stubs.ts both have it; expected it in one of them",
    "workflows/w.yaml:6:40 FUNCTION_AMBIGUOUS function `other`: functions/more.py and functions/stubs.py both have it; name its module, as in more.other",
  ]);
});

it("says what of a project in Python is not kept, and why", async () => {
  await using made = await projectFiles({
    "runtime.yaml": "schema_version: v1\ndb_path: runtime.db\n",
    "runtime.db": "",
    "functions/a.py": 'import json\nfrom agent_runtime.errors import StepExecutionError\ndef f(inputs):\n    return inputs["runtime"]["memory"]\n',
    "tools/t.py": "from agent_runtime.tools.base import ToolResult\nimport forrestrun\n",
    "tools/tests/test_t.py": "import forrestrun\n",
  });
  expect(await checkPython(await openProject(made.root, {}))).toEqual([
    expect.stringMatching(/^functions\/a.py:2:1: imports agent_runtime.errors, which Forge does not bring/),
    expect.stringMatching(/^functions\/a.py:4:29: reads "memory"/),
    expect.stringMatching(/^tools\/t.py:2:1: imports forrestrun, /),
    expect.stringMatching(/^runtime.db: its runs stay there/),
  ]);
});

it("has nothing to say of a project without Python", async () => {
  await using made = await projectFiles({ "runtime.yaml": "", "runtime.db": "", "functions/a.ts": "", "functions/tests/t.py": "import forrestrun" });
  expect(await checkPython(await openProject(made.root, {}))).toEqual([]);
});

it.each([
  ["", ["workflows/w.yaml:4:10: a person is asked before the agent of step a calls tools.own: allow them under `policy` in runtime.yaml"]],
  ["policy: {rules: [{tool: tools.*, decision: allow}]}", []],
  ["policy: {default: deny}", []],
])("says which tools an agent is asked about, where the configuration is `%s`", async (config, expected) => {
  const agent = `agent: {id: a, version: v1, model: demo/echo, prompt: hi, tools: [tools.own, tools.echo], strategy: {type: react, max_iterations: 2}}\n`;
  await using made = await projectFiles({
    "runtime.yaml": config,
    "workflows/w.yaml": `${HEAD}steps:\n  - {id: a, type: agent, agent: a}\n`,
    "agents/a.yaml": agent,
    "tools/t.py": "class Own:\n    name: str = 'tools.own'\n",
  });
  const project = await openProject(made.root, {});
  expect(await checkPythonWorkflow(await loadWorkflow(project, `${made.root}/workflows/w.yaml`), project)).toEqual(expected);
});

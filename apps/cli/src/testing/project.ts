import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Cli, forge, stateDirectory } from "./cli.ts";

const FILES: Readonly<Record<string, string>> = {
  "runtime.yaml": "default_workflow: greet\ndefault_model: demo/chat\n",
  "workflows/greet.yaml": `workflow: {id: greet, version: v1}
inputs:
  name: {required: true}
steps:
  - {id: make, type: function, function: steps.greet, inputs: {name: inputs.name}}
  - id: save
    type: tool
    tool: tools.file
    inputs: {operation: write, path: out/greeting.txt, content: "{{ steps.make.text }}"}
`,
  "workflows/slow.yaml": `workflow: {id: slow, version: v1}
inputs:
  ms: {required: true}
steps:
  - {id: first, type: function, function: steps.wait, inputs: {ms: inputs.ms}}
  - {id: second, type: function, function: steps.wait, inputs: {ms: inputs.ms}}
`,
  "workflows/fails.yaml": "workflow: {id: fails, version: v1}\nsteps:\n  - {id: only, type: function, function: steps.fail}\n",
  "workflows/unserved.yaml": "workflow: {id: unserved, version: v1}\nsteps: [{id: only, type: function, function: steps.gret}]\n",
  "workflows/ask.yaml": "workflow: {id: ask, version: v1}\nsteps:\n  - {id: agent, type: agent, agent: sheller}\n",
  "wrong.yaml": "workflow: {id: wrong, version: v1}\nsteps:\n  - {id: a, type: function, function: steps.greet, inputs: {name: steps.b.text}}\n",
  "agents/sheller.yaml":
    "agent:\n  id: sheller\n  version: v1\n  prompt: run touch made.txt\n  tools: [tools.shell]\n  strategy: {type: react, max_iterations: 4}\n",
  "functions/steps.ts": `export function greet({ name }: { name: string }) {
  return { text: \`Hello, \${name}\` };
}
export async function wait({ ms }: { ms: number }) {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return { waited: ms };
}
export function fail() {
  throw new Error("out of luck");
}
`,
};

export interface TestProject extends AsyncDisposable {
  readonly root: string;
}

/** A small project of its own; its server, if it has one, ends with it. */
export async function createTestProject(): Promise<TestProject> {
  const root = await mkdtemp(path.join(tmpdir(), "forge-cli-"));
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  await forge(["trust"], { directory: root });
  return {
    root,
    [Symbol.asyncDispose]: async () => {
      await Cli.endAll();
      await forge(["down", "--drain", "0ms"], { directory: root });
      for (const directory of [root, stateDirectory(root)]) await rm(directory, { recursive: true, force: true });
    },
  };
}

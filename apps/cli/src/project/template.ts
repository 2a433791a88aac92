/** The files of a new project: one workflow with a function, an agent, a tool and a branch, which runs without a key. */
export const TEMPLATE: Readonly<Record<string, string>> = {
  "runtime.yaml": `schema_version: v1
default_workflow: hello
# Works without a key. With one: openai/gpt-5, or any provider that is configured under llm.
default_model: demo/echo
`,
  "workflows/hello.yaml": `schema_version: v1
workflow:
  id: hello
  version: v1

inputs:
  name:
    description: Who is to be greeted.
    default: World

steps:
  - id: greet
    type: function
    function: greetings.greet
    inputs:
      name: inputs.name
    outputs: [text, length]
    next:
      - when: state.steps.greet.length > 60
        goto: save
      - default: polish

  - id: polish
    type: agent
    agent: writer
    inputs:
      text: steps.greet.text

  - id: save
    type: tool
    tool: tools.file
    inputs:
      operation: write
      path: out/greeting.txt
      content: "{{ 'polish' in state.steps and state.steps.polish.text or steps.greet.text }}"
`,
  "agents/writer.yaml": `agent:
  id: writer
  version: v1
  system: You polish short texts and change nothing of what they say.
  prompt: "{{ inputs.text }}"
  strategy:
    type: single
`,
  "functions/greetings.ts": `/** Called by the step "greet" with its inputs; what it returns is the step's output. */
export function greet({ name }: { name: string }): { text: string; length: number } {
  const text = \`Hello, \${name}!\`;
  return { text, length: text.length };
}
`,
  "tools/README.md": `Tools of your own: a file here that is served by \`npx forge worker tools/my-tools.ts\` (or .py).
`,
  "prompts/README.md": `Prompts that agents share, by id and version.
`,
};

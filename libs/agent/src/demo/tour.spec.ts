import { Role } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { demoTurn, type ToolAnswer, type ToolInit } from "../testing/demo-turn.ts";

const schema = (properties: object, required: string[] = []) => JSON.stringify({ type: "object", properties, required });

const TOOLS: readonly ToolInit[] = [
  { name: "tools.file", inputSchemaJson: schema({ operation: { enum: ["read", "write"] }, path: { type: "string" } }, ["operation", "path"]) },
  { name: "tools.read_file", inputSchemaJson: schema({ path: { type: "string" } }, ["path"]) },
  { name: "tools.glob", inputSchemaJson: schema({ pattern: { type: "string" } }, ["pattern"]) },
  { name: "tools.patch", inputSchemaJson: schema({ patch: { type: "string" }, edits: { type: "array" } }) },
  { name: "tools.test", inputSchemaJson: schema({ profile: { enum: ["unit", "all"] } }, ["profile"]) },
  { name: "tools.update_plan", inputSchemaJson: schema({ plan: { type: "array" } }, ["plan"]) },
];

const README = "# Thing\r\n\r\nSame line.\r\nSame line.\r\nIt does things.\r\n";

type Answers = Readonly<Record<string, ToolAnswer | ((args: Record<string, unknown>) => ToolAnswer)>>;

function session(overrides: Answers = {}, tools = TOOLS) {
  const answers: Answers = {
    "tools.update_plan": "null",
    "tools.glob": JSON.stringify({ files: ["docs/a.md", "README.md", "src/README.md"], truncated: false }),
    "tools.read_file": ({ path }) => JSON.stringify({ path, size: README.length, content: README, start_line: 1, end_line: 5, total_lines: 5 }),
    "tools.patch": JSON.stringify({ files: [{ path: "README.md", status: "changed" }] }),
    "tools.test": JSON.stringify({ passed: 3 }),
    ...overrides,
  };
  return demoTurn("demo/chat", tools, (tool, args) => {
    const answer = answers[tool];
    if (answer === undefined) throw new Error(`The model called ${tool}, which nobody offered.`);
    return typeof answer === "function" ? answer(args) : answer;
  });
}

const names = (calls: readonly (readonly [string, unknown])[]) => calls.map(([tool]) => tool.replace("tools.", ""));

describe("the tour of demo/chat", () => {
  it.each(["tour", "Please fix the typo in the README", "add a line"])("plans, looks, reads, changes, tests and tells when asked %j", async (request) => {
    const { calls, text } = await session().ask(request);
    expect(names(calls)).toEqual(["update_plan", "glob", "read_file", "patch", "test", "update_plan"]);
    expect(calls[2]?.[1]).toMatchObject({ path: "README.md" });
    expect(calls[3]?.[1]).toEqual({
      edits: [{ path: "README.md", search: "It does things.", replace: `It does things.\n\nAdded on a tour of Forge by its demo model, asked: "${request}"` }],
    });
    expect(calls[4]?.[1]).toEqual({ profile: "unit" });
    expect(calls.at(-1)?.[1]).toMatchObject({ plan: [{ status: "completed" }, { status: "completed" }, { status: "completed" }, { status: "completed" }] });
    expect(text).toMatch(/^I changed README\.md\..*\/undo.* The tests ran: /);
  });

  it("makes two changes on a tour of a longer file, so that one can be taken and the other left", async () => {
    const content = `# Thing\n${"\nSame.".repeat(20)}\nThe end.\n`;
    const read = { "tools.read_file": ({ path }: Record<string, unknown>) => JSON.stringify({ path, content }) };
    const edits = async (request: string) => (await session(read).ask(request)).calls[3]?.[1].edits as { search: string }[];
    expect((await edits("Give me a tour.")).map(({ search }) => search)).toEqual(["# Thing", "The end."]);
    expect((await edits("fix it")).map(({ search }) => search)).toEqual(["The end."]);
  });

  it("makes notes where no text is there, with a diff that makes a new file", async () => {
    const { calls } = await session({ "tools.glob": '{"files":[],"truncated":false}' }).ask("tour");
    expect(names(calls)).toEqual(["update_plan", "glob", "patch", "test", "update_plan"]);
    expect(calls[2]?.[1].patch).toMatch(/^--- \/dev\/null\n\+\+\+ b\/NOTES\.md\n@@ -0,0 \+1,3 @@\n(\+.*\n){3}$/);
  });

  it("uses only tools that it has", async () => {
    const { calls } = await session({}, [TOOLS[3] as ToolInit]).ask("tour");
    expect(names(calls)).toEqual(["patch"]);
    const without = await session({}, TOOLS.slice(0, 3)).ask("add a line");
    expect(without.calls).toEqual([]);
    expect(without.text).toContain("I have seen 1 message of yours.");
  });

  it("takes no for an answer, and says that nothing was changed", async () => {
    const denied = { error: "The call was denied and not executed: not now" };
    const { calls, text } = await session({ "tools.patch": denied }).ask("tour");
    expect(names(calls)).toEqual(["update_plan", "glob", "read_file", "patch", "update_plan"]);
    expect(calls.at(-1)?.[1]).toMatchObject({ plan: [{}, {}, { status: "pending" }, { status: "pending" }] });
    expect(text).toMatch(/denied, and nothing was changed\. I was told: .*not now/);
  });

  it("reads again and tries once more where the file changed in between", async () => {
    const stale = { error: "The call failed: README.md was changed since (PREVIEW_STALE)" };
    const { calls, text } = await session({ "tools.patch": stale }).ask("tour");
    expect(names(calls)).toEqual(["update_plan", "glob", "read_file", "patch", "read_file", "patch", "update_plan"]);
    expect(text).toMatch(/^The change was not made: /);
  });

  it("makes notes where the change did not fit, and never repeats a call of which nobody knows what came", async () => {
    let patches = 0;
    const once = () => (++patches === 1 ? { error: "The call failed: the text was found twice (PATCH_FAILED)" } : "{}");
    const { calls, text } = await session({ "tools.patch": once }).ask("tour");
    expect(names(calls).filter((name) => name === "patch")).toHaveLength(2);
    expect(text).toContain("I changed NOTES.md.");
    const unknown = { error: "The outcome of the call is unknown, it may or may not have taken effect: the worker was lost" };
    const lost = await session({ "tools.patch": unknown }).ask("tour");
    expect(names(lost.calls).filter((name) => name === "patch")).toHaveLength(1);
  });

  it("goes on where looking or reading failed", async () => {
    const failed = { error: "The call failed: no such file (FILE_NOT_FOUND)" };
    expect(names((await session({ "tools.glob": failed, "tools.read_file": failed }).ask("tour")).calls)).toEqual([
      "update_plan",
      "glob",
      "patch",
      "test",
      "update_plan",
    ]);
    expect(names((await session({ "tools.read_file": failed }).ask("tour")).calls)).toEqual([
      "update_plan",
      "glob",
      "read_file",
      "patch",
      "test",
      "update_plan",
    ]);
  });

  it("reads the result of a change that a person edited", async () => {
    const edited =
      '[A person changed the arguments of this call before it was executed. They were: {"edits":[]}]\n{"files":[{"path":"README.md","status":"changed"}]}';
    expect((await session({ "tools.patch": edited }).ask("tour")).text).toContain("I changed README.md.");
  });

  it("looks at its change again when asked for a review, and finds it gone after an undo", async () => {
    let content = README;
    const readFile = ({ path }: Record<string, unknown>) => JSON.stringify({ path, content });
    const turn = session({ "tools.read_file": readFile });
    expect((await turn.ask("review")).text).toContain("nothing to review");
    await turn.ask("tour");
    content += "\nAdded on a tour of Forge by its demo model\n";
    expect((await turn.ask("review")).text).toMatch(/Changed in this session: README\.md\. The line stands in README\.md/);
    content = README;
    expect((await turn.ask("Please review it")).text).toContain("no longer in README.md");
    expect((await turn.ask("undo")).text).toContain("/undo");
  });

  it("takes a second request for one of its own, and what a hook says for none", async () => {
    const turn = await session().ask("tour");
    expect((await turn.ask("hello")).text).toContain("I am the demo model");
    const before = turn.calls.length;
    await turn.ask("add another");
    expect(names(turn.calls.slice(before))).toEqual(["update_plan", "glob", "read_file", "patch", "test", "update_plan"]);
    const after = turn.calls.length;
    const nudge = "You have tools, and your answer used none. If the task needs one, call it now instead of describing what you would do.";
    expect((await turn.ask(nudge)).text).toMatch(/^I changed README\.md/);
    expect(turn.calls).toHaveLength(after);
    expect(turn.messages.at(-1)?.role).toBe(Role.ASSISTANT);
  });
});

import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliResult, forge, forgeOnTerminal, until } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

const FUNCTIONS = `import { existsSync } from "node:fs";
let calls = 0;
/** Another output with each call, and back to itself every other time. */
export function count() {
  calls += 1;
  return { calls, again: calls % 2 === 1 };
}
export function make() {
  return { n: 1 };
}
export function need() {
  if (!existsSync("ready")) throw new Error("not ready");
  return { ok: true };
}
export function pay({ amount }: { amount: number }) {
  return { paid: amount };
}
export function item({ item }: { item: number }) {
  if (item === 3) throw new Error("three");
  return { twice: item * 2 };
}
`;

const brittle = (attempts: number): string => `workflow: {id: brittle, version: v1}
steps:
  - {id: first, type: function, function: control.make}
  - {id: second, type: function, function: control.need, retry: {attempts: ${attempts}}}
`;

const COUNTING = `workflow: {id: counting, version: v1}
steps:
  - {id: count, type: function, function: control.count, next: [{when: state.steps.count.again, goto: count}, {default: end}]}
`;

const PAYMENT = `workflow: {id: payment, version: v1}
steps:
  - {id: each, type: function, function: control.item, for_each: {items: [1, 2, 3], on_error: continue}, inputs: {item: item}, needs: []}
  - {id: signal, type: wait, wait: {signal: paid}, needs: []}
  - {id: ask, type: wait, wait: {approval: "Send {{ steps.signal.amount }}?"}, needs: [signal]}
  - {id: pay, type: function, function: control.pay, inputs: {amount: steps.signal.amount}, needs: [ask, each]}
`;

describe("what runs do next", () => {
  let project: TestProject;
  const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });
  const startedId = (result: CliResult): string => (result.json()[0] as unknown as { started: { run_id: string } }).started.run_id;
  const status = async (id: string): Promise<string> => ((await run("inspect", id, "--json")).json()[0] as unknown as { status: string }).status;

  beforeAll(async () => {
    project = await createTestProject();
    await writeFile(path.join(project.root, "functions/control.ts"), FUNCTIONS);
    await writeFile(path.join(project.root, "workflows/brittle.yaml"), brittle(1));
    await writeFile(path.join(project.root, "workflows/payment.yaml"), PAYMENT);
    await writeFile(path.join(project.root, "workflows/counting.yaml"), COUNTING);
  });
  afterAll(async () => project[Symbol.asyncDispose]());

  it("resumes where a run failed, refuses a workflow that has changed, forks it, and replays all of it", async () => {
    const failed = await run("run", "brittle", "--json");
    expect(failed.code).toBe(1);
    const id = startedId(failed);

    await writeFile(path.join(project.root, "workflows/brittle.yaml"), brittle(2));
    const refused = await run("resume", id);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(/~ steps\[1\]\.retry\.attempts {2}1 → 2/);
    expect(refused.stderr).toContain(`npx forge fork ${id} --from second`);
    expect(refused.stderr).toContain("(WORKFLOW_INTEGRITY)");

    await mkdir(path.join(project.root, "ready"));
    const forked = await run("fork", id, "--from", "second");
    expect(forked.code, forked.stderr).toBe(0);
    expect(forked.stderr).toContain("the project's has changed since");
    expect(forked.stdout).toMatch(/second .*COMPLETED/);

    await writeFile(path.join(project.root, "workflows/brittle.yaml"), brittle(1));
    const resumed = await run("resume", id, "--json", "--command-id", "again-1");
    expect(resumed.code, resumed.stderr).toBe(0);
    const lines = resumed.json() as unknown as { resumed?: { step_ids: string[] }; event?: { kind: string }; run?: { status: string } }[];
    expect(lines[0]?.resumed?.step_ids).toEqual(["second"]);
    expect(lines[1]?.event?.kind).toBe("run.resumed");
    expect(lines.at(-1)?.run?.status).toBe("COMPLETED");
    const again = await run("resume", id, "--json", "--command-id", "again-1");
    expect(again.json()[0]).toEqual(lines[0]);
    expect((await run("resume", id)).code).toBe(4);

    const replayed = await run("replay", id, "--verify-state", "--json");
    expect(replayed.code, replayed.stdout).toBe(0);
    expect(replayed.json()[0]).toMatchObject({
      status: "COMPLETED",
      steps: [{ step_id: "first" }, { step_id: "second", status: "FAILED" }, { step_id: "second" }],
    });
    const steps = (await run("inspect", id, "--json", "--steps")).json() as unknown as {
      step_id: string;
      state_before: { steps: object };
      state_after: { steps: object };
    }[];
    expect(steps.map(({ step_id: step, state_before: before, state_after: after }) => [step, Object.keys(before.steps), Object.keys(after.steps)])).toEqual([
      ["first", [], ["first"]],
      ["second", ["first"], ["first"]],
      ["second", ["first"], ["first", "second"]],
    ]);
  });

  it("warns of an output that takes the place of another one, fails the step, or says nothing, as the project says when the run starts", async () => {
    const config = path.join(project.root, "runtime.yaml");
    const before = await readFile(config, "utf8");
    const countingUnder = async (policy: string) => {
      await writeFile(config, `${before}\noverwrite_policy: ${policy}\n`);
      const id = startedId(await run("run", "counting", "--json"));
      const told = (await run("events", id, "--lifecycle")).json() as unknown as { event: string; key?: string }[];
      return { status: await status(id), told: told.filter(({ event }) => event === "STATE_OVERWRITE").map(({ key }) => key) };
    };
    try {
      expect(await countingUnder("warn")).toEqual({ status: "COMPLETED", told: ["steps.count"] });
      expect(await countingUnder("strict")).toEqual({ status: "FAILED", told: [] });
      expect(await countingUnder("allow")).toEqual({ status: "COMPLETED", told: [] });
    } finally {
      await writeFile(config, before);
    }
  });

  it("signals, pauses, continues and answers a run, whose life is told by its names", async () => {
    const id = startedId(await run("run", "payment", "--detach", "--json"));
    await until(async () => (await status(id)) === "WAITING", "a run that only waits");
    expect((await run("inspect", id)).stdout).toMatch(/for +the signal paid\n +npx forge signal/);
    expect((await run("runs", "--status", "waiting", "--json")).json()).toMatchObject([{ run_id: id }]);

    expect((await run("pause", id)).stdout).toContain("Paused");
    expect((await run("pause", id)).code).toBe(4);
    expect((await run("signal", id, "paid", "-d", "nothing")).code).toBe(2);
    expect((await run("signal", id, "paid", "-d", '{"amount": 5}')).code).toBe(0);
    expect(await status(id)).toBe("PAUSED");
    expect((await run("approvals")).stdout).toBe("");
    expect((await run("continue", id)).stdout).toBe("It goes on.\n");
    expect((await run("continue", id)).code).toBe(4);

    await until(async () => (await run("approvals")).stdout.includes("Send 5?"), "the question");
    expect((await run("approve", id)).stdout).toBe("Approved: Send 5?\n");
    await until(async () => (await status(id)) === "COMPLETED", "the end");

    const told = (await run("events", id, "--lifecycle")).json() as unknown as { event: string; step_id?: string; item_index?: number }[];
    expect(told[0]).toEqual({ event: "RUN_START", run_id: id, workflow_id: "payment" });
    expect(told.filter(({ event }) => event === "STEP_ERROR")).toMatchObject([{ step_id: "each", item_index: 2 }]);
    expect(told.at(-1)).toMatchObject({ event: "RUN_COMPLETE", status: "COMPLETED" });
    expect((await run("inspect", id)).stdout).toMatch(/items +2 of 3 completed, 1 failed/);
    expect((await run("replay", id, "--verify-state")).code).toBe(0);
    expect((await run("signal", id, "paid")).code).toBe(4);
  });

  it("shows on a terminal all that is under way, and what can be done about it", async () => {
    const cli = forgeOnTerminal(["run", "payment"], { directory: project.root });
    await cli.says(/for the signal paid/);
    const id = /run ([0-9a-f-]{36})/.exec(cli.stdout)?.[1] as string;
    await run("signal", id, "paid", "-d", '{"amount": 7}');
    await cli.says(/waits for an answer: Send 7\?/);
    expect((await run("approve", id, "--deny")).code).toBe(0);
    const { code, stdout } = await cli.end();
    expect(code, stdout).toBe(1);
    expect(stdout).toMatch(/ask.*APPROVAL_DENIED|APPROVAL_DENIED/);
  });

  it("keeps data where db_path says, and lets no program run that shell_denylist names", async () => {
    const root = path.join(project.root, "elsewhere");
    await mkdir(path.join(root, "workflows"), { recursive: true });
    await writeFile(path.join(root, "runtime.yaml"), "db_path: store\nshell_denylist: [rm]\npolicy: {default: allow}\n");
    await writeFile(
      path.join(root, "workflows/s.yaml"),
      'workflow: {id: s, version: v1}\nsteps:\n  - {id: sh, type: tool, tool: tools.shell, inputs: {command: "echo $(rm x)"}}\n',
    );
    const { code, stdout } = await forge(["run", "s", "--foreground"], { directory: root });
    expect(code).toBe(1);
    expect(stdout).toContain("the program rm is refused by shell_denylist");
    expect(existsSync(path.join(root, "store/postgres.log"))).toBe(true);
    expect(existsSync(path.join(root, ".forge"))).toBe(false);
    expect((await forge(["runs", "--json"], { directory: root })).json()).toHaveLength(1);
  });
});

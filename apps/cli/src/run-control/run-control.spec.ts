import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ForgeClient } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ReplayRunResponseSchema, RunSchema, RunStatus, StepStatus } from "@forge/protocol/workflow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PLAIN } from "../output/style.ts";
import { currentWorkflow } from "./current-workflow.ts";
import { forkRun } from "./fork-command.ts";
import { readPayload } from "./read-payload.ts";
import { replayLines } from "./replay-lines.ts";
import { resumeRun } from "./resume-command.ts";
import { signalRun } from "./signal-command.ts";

const RUN = "018bcfe5-687b-7000-8000-000000000001";

/** A link to a client of which only the named calls are there; what they are asked is kept. */
function linkTo(calls: Readonly<Record<string, (request: never) => unknown>>) {
  const asked: unknown[] = [];
  const workflow = Object.fromEntries(
    Object.entries(calls).map(([name, answer]) => [
      name,
      async (request: never) => {
        asked.push(request);
        return answer(request);
      },
    ]),
  );
  const client = { workflow } as unknown as ForgeClient;
  return { asked, call: async <T>(make: (client: ForgeClient) => Promise<T>): Promise<T> => await make(client) };
}

const workflowText = (attempts: number, extra = ""): string => `workflow: {id: letters, version: v2}
steps:
  - {id: draft, type: function, function: letters.draft, retry: {attempts: ${attempts}}}
  - {id: send, type: function, function: letters.send${extra}}
`;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "forge-control-"));
  await mkdir(path.join(root, "workflows"));
  await writeFile(path.join(root, "runtime.yaml"), "");
  await writeFile(path.join(root, "workflows/letters.yaml"), workflowText(2));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function runOf(): Promise<ReturnType<typeof create<typeof RunSchema>>> {
  const current = await currentWorkflow({ workflowId: "letters", workflowVersion: "v2" }, root);
  return create(RunSchema, {
    runId: RUN,
    workflowId: "letters",
    workflowVersion: "v2",
    workflowHash: current?.hash,
    status: RunStatus.FAILED,
    definition: current?.definition,
    steps: [
      { stepId: "draft", status: StepStatus.COMPLETED },
      { stepId: "send", status: StepStatus.FAILED },
    ],
  });
}

describe("resume", () => {
  it("sends the hash of the workflow as it is in the project now, and the command's id", async () => {
    const run = await runOf();
    const link = linkTo({ resumeRun: () => ({ seq: 9n, stepIds: ["send"], warnings: [] }) });
    const current = await currentWorkflow(run, root);
    const answer = await resumeRun(link, { run, current, hint: "", options: { commandId: "c-1", expectedSeq: 8 } });
    expect(answer.stepIds).toEqual(["send"]);
    expect(link.asked).toMatchObject([{ header: { commandId: "c-1", expectedSeq: 8n }, runId: RUN, workflowHash: run.workflowHash }]);
    expect(run.workflowHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it("sends no hash where the project has no such workflow any more", async () => {
    const run = await runOf();
    const current = await currentWorkflow({ workflowId: "letters", workflowVersion: "v3" }, root);
    expect(current).toBeUndefined();
    const link = linkTo({ resumeRun: () => ({ seq: 9n, stepIds: [], warnings: [] }) });
    await resumeRun(link, { run, current, hint: "", options: {} });
    expect(link.asked).toMatchObject([{ workflowHash: "" }]);
  });

  it("says what differs and what to do where the workflow has changed since", async () => {
    const run = await runOf();
    await writeFile(path.join(root, "workflows/letters.yaml"), workflowText(3, ", outputs: [sent]"));
    const current = await currentWorkflow(run, root);
    await writeFile(path.join(root, "workflows/letters.yaml"), workflowText(2));
    const refused = new ForgeError(ErrorCode.CONFLICT, "another workflow", { reason: "WORKFLOW_INTEGRITY" });
    const link = linkTo({
      resumeRun: () => {
        throw refused;
      },
    });
    const error = await resumeRun(link, { run, current, hint: " -p x", options: {} }).catch((thrown: unknown) => thrown as ForgeError);
    expect(error).toMatchObject({ code: ErrorCode.CONFLICT, reason: "WORKFLOW_INTEGRITY" });
    const lines = (error as ForgeError).message.split("\n");
    expect(lines[0]).toBe(`${path.join(root, "workflows/letters.yaml")} is not what run ${RUN} was started with:`);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}~ steps\[0\]\.retry\.attempts {2}2 → 3$/));
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}\+ steps\[1\]\.outputs/));
    expect(lines).toContain(`  npx forge fork ${RUN} --from send -p x`);
    expect(lines).toContain("  npx forge run letters@v2 -p x");
  });

  it("leaves every other refusal as it is", async () => {
    const run = await runOf();
    const refused = new ForgeError(ErrorCode.CONFLICT, "it runs", { reason: "RUN_NOT_FAILED" });
    const link = linkTo({
      resumeRun: () => {
        throw refused;
      },
    });
    await expect(resumeRun(link, { run, current: await currentWorkflow(run, root), hint: "", options: {} })).rejects.toBe(refused);
  });

  it("is refused with the place in the file where that can't be read any more", async () => {
    await writeFile(path.join(root, "workflows/letters.yaml"), workflowText(2).replace("type: function", "type: nothing"));
    await expect(currentWorkflow({ workflowId: "letters", workflowVersion: "v2" }, root)).rejects.toMatchObject({ reason: "WORKFLOW_VALIDATION" });
    await writeFile(path.join(root, "workflows/letters.yaml"), workflowText(2));
  });
});

describe("fork", () => {
  it("names the step and sends no hash: it is what one does after a change", async () => {
    const link = linkTo({ forkRun: () => ({ runId: "r2", seq: 1n, warnings: [] }) });
    await forkRun(link, RUN, { from: "send", label: { why: "retry" }, commandId: "c-2" });
    expect(link.asked).toEqual([{ header: expect.objectContaining({ commandId: "c-2" }), runId: RUN, stepId: "send", labels: { why: "retry" } }]);
  });
});

describe("signal", () => {
  it("hands over what it is given, and nothing where nothing is", async () => {
    const link = linkTo({ signalRun: () => ({ seq: 4n }) });
    await signalRun(link, { runId: RUN, name: "paid", payload: undefined, options: {} });
    expect(link.asked).toMatchObject([{ runId: RUN, name: "paid", payload: undefined }]);
    await expect(signalRun(link, { runId: RUN, name: " ", payload: undefined, options: {} })).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
  });

  it("takes JSON, as it is or of a file, and refuses everything else before anything is sent", async () => {
    const inRoot = (file: string): string => path.join(root, file);
    await writeFile(inRoot("payload.json"), '{"a": [1]}');
    await writeFile(inRoot("binary"), Buffer.from([0xff, 0xfe, 0x00]));
    await expect(readPayload('{"a":1}', inRoot)).resolves.toBe('{"a":1}');
    await expect(readPayload("@payload.json", inRoot)).resolves.toBe('{"a": [1]}');
    await expect(readPayload("hello", inRoot)).rejects.toMatchObject({ code: ErrorCode.VALIDATION, message: expect.stringContaining(`-d '"hello"'`) });
    await expect(readPayload("@missing", inRoot)).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
    await expect(readPayload("@workflows", inRoot)).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
    await expect(readPayload("@binary", inRoot)).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
  });
});

describe("a replay", () => {
  const replay = (init: MessageInitShape<typeof ReplayRunResponseSchema>) =>
    create(ReplayRunResponseSchema, { status: RunStatus.COMPLETED, events: 12n, ...init });
  const steps = [
    { stepId: "draft", executionIndex: 0, status: StepStatus.COMPLETED, stateBeforeHash: "a".repeat(64), stateAfterHash: "b".repeat(64), seq: 4n },
    { stepId: "send", executionIndex: 1, status: StepStatus.COMPLETED, stateBeforeHash: "b".repeat(64), stateAfterHash: "c".repeat(64), seq: 7n },
  ];

  it("is a table of steps, and says that everything follows only where that was looked at", () => {
    const lines = replayLines(replay({ steps }), { isVerified: true, style: PLAIN, columns: 120 });
    expect(lines[1]).toMatch(/^0 {2}draft +COMPLETED +a{12} +b{12} +4 +as recorded$/);
    expect(lines.at(-1)).toBe("COMPLETED after 12 events, each of which follows from those before");
    expect(replayLines(replay({ steps }), { isVerified: false, style: PLAIN, columns: 120 }).at(-1)).toContain("--verify-state");
  });

  it("shows where the record first differs from what follows", () => {
    const mismatches = [{ seq: 7n, stepId: "send", path: "steps.draft.title", recordedJson: '"a"', recomputedJson: "" }];
    const lines = replayLines(replay({ steps, mismatches }), { isVerified: true, style: PLAIN, columns: 120 });
    expect(lines[2]).toMatch(/differs$/);
    expect(lines.slice(4)).toEqual([
      "✖ event 7, step send, first differs at steps.draft.title",
      '    recorded   "a"',
      "    recomputed nothing",
      "",
      "COMPLETED after 12 events, 1 of which does not follow from what came before",
    ]);
  });
});

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ConnectClient, commandHeader, createConnectClient } from "@forge/client";
import { projectQueue } from "@forge/host/project";
import { type Run, RunStatus, type StepExecution } from "@forge/protocol/workflow";
import { parseWorkflow } from "@forge/workflow";
import { Cli, forge, until } from "./cli.ts";

/** A project whose server stays up, and a client of it. */
export interface WorkerProject extends AsyncDisposable {
  readonly root: string;
  readonly client: ConnectClient;
  readonly queue: string;
  readonly url: string;
  write(file: string, text: string): Promise<void>;
  /** Starts a run of one step; its id. */
  start(step: string): Promise<string>;
  /** The run's only step, once the run has ended. */
  end(runId: string): Promise<{ readonly run: Run; readonly step: StepExecution }>;
}

export async function createWorkerProject(): Promise<WorkerProject> {
  const root = await mkdtemp(path.join(tmpdir(), "forge-worker-"));
  await writeFile(path.join(root, "runtime.yaml"), "default_model: demo/chat\n");
  const up = await forge(["up", "--detach", "--json"], { directory: root });
  const [server] = up.json() as unknown as [{ url: string; data_directory: string }];
  const token = (await readFile(path.join(server.data_directory, "token"), "utf8")).trim();
  const client = createConnectClient({ url: server.url, token });
  const queue = await projectQueue(root);
  const find = async (runId: string): Promise<Run> => (await client.workflow.getRun({ runId })).run as Run;
  return {
    root,
    client,
    queue,
    url: server.url,
    write: (file, text) => writeFile(path.join(root, file), text),
    start: async (step) => {
      const text = `workflow: {id: one, version: v1}\nsteps:\n  - {id: only, ${step}}\n`;
      const { definition } = parseWorkflow(text, { file: "one.yaml", agents: { find: () => ({ kind: "unknown", known: [], unreadable: [] }) } });
      return (await client.workflow.startRun({ header: commandHeader(), definition, queue })).runId;
    },
    end: async (runId) => {
      const isOver = ({ status }: Run): boolean => status !== RunStatus.RUNNING && status !== RunStatus.CANCELLING;
      await until(async () => isOver(await find(runId)), `the end of run ${runId}`);
      const run = await find(runId);
      return { run, step: run.steps[0] as StepExecution };
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await Cli.endAll();
      await forge(["down", "--drain", "0ms"], { directory: root });
      await rm(root, { recursive: true, force: true });
    },
  };
}

import { randomUUID } from "node:crypto";
import { Logger, makeWorkerUtils, run, type Task } from "graphile-worker";
import { config, servePeer, step } from "./serve-peer.mts";

// A job queue: a run of one step is a job. Jobs that ended well are removed from its table.

interface Payload {
  readonly run: string;
}

const waiting = new Map<string, PromiseWithResolvers<void>>();
const steps: Task = (payload) => {
  step((payload as Payload).run, 0);
};

const connectionString = config.databaseUrl ?? "";
// A line for each job would be measured too.
const logger = new Logger(() => () => undefined);
const runner = await run({ connectionString, taskList: { steps }, noHandleSignals: true, logger });
const utils = await makeWorkerUtils({ connectionString, logger });
runner.events.on("job:complete", ({ job, error }) => {
  const { run: id } = job.payload as Payload;
  if (error) waiting.get(id)?.reject(new Error("a job failed", { cause: error }));
  else waiting.get(id)?.resolve();
  waiting.delete(id);
});

servePeer({
  run: async () => {
    const id = randomUUID();
    const ended = Promise.withResolvers<void>();
    waiting.set(id, ended);
    await utils.addJob("steps", { run: id });
    await ended.promise;
    return id;
  },
  stop: async () => {
    await runner.stop();
    await utils.release();
  },
});

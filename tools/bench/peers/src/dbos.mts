import { randomUUID } from "node:crypto";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { config, servePeer, step } from "./serve-peer.mts";

// A workflow function whose steps are checkpointed in PostgreSQL; the library runs in the application's process, and after a restart it goes on with what was pending.

async function stepsFunction(run: string, steps: number): Promise<number> {
  let last = 0;
  for (let index = 0; index < steps; index++) last = await DBOS.runStep(async () => step(run, index), { name: `step_${index}` });
  return last;
}
const stepsWorkflow = DBOS.registerWorkflow(stepsFunction, { name: "steps" });

DBOS.setConfig({ name: "bench", systemDatabaseUrl: config.databaseUrl ?? "", logLevel: "error" });
await DBOS.launch();

servePeer({
  run: async (steps) => {
    const handle = await DBOS.startWorkflow(stepsWorkflow)(randomUUID(), steps);
    await handle.getResult();
    return handle.workflowID;
  },
  start: async (id, steps) => {
    await DBOS.startWorkflow(stepsWorkflow, { workflowID: id })(id, steps);
  },
  stop: () => DBOS.shutdown(),
});

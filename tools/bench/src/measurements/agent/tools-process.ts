import { createConnectClient } from "@forge/client";
import { toolHandler } from "@forge/tools";
import { startWorker } from "@forge/worker";
import { configOf, logger, serve } from "../../server/entry.ts";
import type { ExecutorConfig } from "../../server/messages.ts";
import { benchTools } from "./bench-tools.ts";

// The process of the tools, beside the one that speaks to models, as `forge up` has it: it reaches the control plane over the wire.

const { url, token, project } = configOf<ExecutorConfig>();
const port = createConnectClient({ url, token });
const worker = await startWorker({
  port,
  name: "bench-tools",
  queues: ["default"],
  handlers: benchTools(project).map((definition) => toolHandler(definition)),
  slots: 64,
  onProblem: (error) => logger.error({ err: error }, "a problem in the process of the tools"),
});
serve(
  { type: "ready" },
  {
    stop: async () => {
      await worker.stop();
      await port.close();
    },
  },
);

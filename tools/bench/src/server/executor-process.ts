import path from "node:path";
import { createConnectClient } from "@forge/client";
import { startExecutor } from "@forge/host";
import { configOf, logger, serve } from "./entry.ts";
import type { ExecutorConfig } from "./messages.ts";

// An executor that reaches its control plane over the wire, as where services run separately.

const { url, token, project } = configOf<ExecutorConfig>();
const port = createConnectClient({ url, token });
const functionsDirectory = path.join(project, "functions");
const executor = await startExecutor({ port, name: "bench", queues: ["default"], workspace: project, functionsDirectory, environment: {}, logger });
serve(
  { type: "ready" },
  {
    stop: async () => {
      await executor.stop();
      await port.close();
    },
  },
);

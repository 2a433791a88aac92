// A thread that ends its process once the parent has gone: the process itself may be busy with a loop that never ends.
import { workerData } from "node:worker_threads";
import { endGroup } from "./end-group.ts";

const LOOK_MS = 500;

setInterval(() => {
  if (process.ppid !== workerData) endGroup();
}, LOOK_MS);

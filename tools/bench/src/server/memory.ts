import v8 from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects what is garbage, and says how many bytes this process still holds: its heap, and what hangs on it outside. */
export function reachableBytes(): number {
  v8.setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // What the first round lets go of may have held other things by finalizers.
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Capability } from "@forge/protocol/worker";
import type { Outcome, TaskContext } from "@forge/worker";
import { limitTime } from "../limit-time.ts";
import type { CurrentProcess } from "./current-process.ts";
import { PROCESS_EXITED } from "./lost-outcome.ts";

/** How often a call is made whose process ends under it. */
const ATTEMPTS_MAX = 3;

/** Performs a leased task in the process that there is; in the next, where that process ends under a call that is idempotent or has not begun. */
export async function performInProcess(current: CurrentProcess, capability: Capability, context: TaskContext): Promise<Outcome> {
  const { timeout } = capability.tool ?? {};
  // The process keeps to this bound by itself, unless it is stuck.
  const limit = limitTime(capability.name, timeout === undefined ? undefined : durationMs(timeout), context.signal);
  let hasBegun = false;
  const limited: TaskContext = {
    ...functionsOf(context),
    lease: context.lease,
    task: context.task,
    signal: limit.signal,
    start: async (kind) => {
      hasBegun = true;
      await context.start(kind);
    },
  };
  try {
    for (let attempt = 1; ; attempt++) {
      const outcome = await (await current.wait(limit.signal)).call(capability, limited);
      const isLost = outcome.case === "failure" && outcome.value.error?.reason === PROCESS_EXITED;
      if (!isLost || hasBegun || attempt === ATTEMPTS_MAX || limit.signal.aborted) return outcome;
    }
  } finally {
    limit.end();
  }
}

/** The functions of a context, which may be the methods of an object. */
function functionsOf(context: TaskContext): Omit<TaskContext, "lease" | "task" | "signal" | "start"> {
  return {
    report: (kind) => context.report(kind),
    queued: () => context.queued(),
    begun: () => context.begun(),
    heartbeat: () => context.heartbeat(),
    readConversation: (request) => context.readConversation(request),
    listChanges: (request) => context.listChanges(request),
    putArtifact: (content, mediaType) => context.putArtifact(content, mediaType),
    getArtifact: (sha256) => context.getArtifact(sha256),
    toValue: (json) => context.toValue(json),
    fromValue: (value) => context.fromValue(value),
  };
}

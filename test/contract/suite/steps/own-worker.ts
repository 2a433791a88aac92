import { create } from "@bufbuild/protobuf";
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import { type ConnectClient, createConnectClient } from "@forge/client";
import type { TaskLease } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import { CapabilityKind, CapabilitySchema } from "@forge/protocol/worker";
import type { World } from "../scenario.ts";

/** A model, a function and a tool that nobody answers for, unless the case does. */
export const OWN_MODEL = "suite/model";
export const OWN_FUNCTION = "suite.function";
export const OWN_TOOL = "suite.change";

/** A worker on the case's own queue, which does nothing by itself. */
export interface OwnWorker {
  readonly port: ConnectClient["worker"];
  readonly workerSessionId: string;
  /** Leases that it keeps. */
  readonly held: TaskLease[];
}

const joined = new WeakMap<World, Promise<OwnWorker>>();

/** The case's worker, which joins when it is first asked for. */
export function joinOwnQueue(world: World): Promise<OwnWorker> {
  const joining = joined.get(world) ?? join(world);
  joined.set(world, joining);
  return joining;
}

async function join(world: World): Promise<OwnWorker> {
  const client = createConnectClient({ url: world.urls[0] as string, token: world.workerToken });
  world.defer(() => client.close());
  const { workerSessionId, heartbeatInterval } = await client.worker.register({
    version: { major: 1, minor: 0 },
    workerName: `suite-${world.queue}`,
    queues: [world.queue],
    capabilities: [
      create(CapabilitySchema, { kind: CapabilityKind.MODEL, name: "suite/*" }),
      create(CapabilitySchema, { kind: CapabilityKind.FUNCTION, name: OWN_FUNCTION }),
      create(CapabilitySchema, { kind: CapabilityKind.TOOL, name: OWN_TOOL, tool: { name: OWN_TOOL, inputSchemaJson: "{}", risk: RiskLevel.CHANGE } }),
      create(CapabilitySchema, { kind: CapabilityKind.WORKSPACE, name: "undo" }),
    ],
    slots: 4,
  });
  const held: TaskLease[] = [];
  // After a restart nobody knows it any more, and nobody needs it then.
  const beat = () => void client.worker.heartbeat({ workerSessionId, held }).catch(() => undefined);
  const timer = setInterval(beat, durationMs(heartbeatInterval as Duration));
  world.defer(() => clearInterval(timer));
  return { port: client.worker, workerSessionId, held };
}

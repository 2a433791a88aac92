import { type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { CapabilityKind, type RegisterRequest } from "@forge/protocol/worker";

/** Tasks at once. */
export const SLOTS_MAX = 10_000;
const CAPABILITIES_MAX = 4096;
const QUEUES_MAX = 64;

/** A worker that wants to join, checked against the protocol and its credential. Errors: validation, unsupported_version, permission_denied. */
export function checkRegister(request: RegisterRequest, call: Call): void {
  checkText(request);
  if (request.version?.major !== 1) {
    throw new ForgeError(
      ErrorCode.UNSUPPORTED_VERSION,
      `worker protocol version ${request.version?.major ?? "(none)"} is not spoken here: this server speaks 1.x`,
    );
  }
  if (!/^[\x21-\x7e]{1,128}$/.test(request.workerName)) throw ForgeError.validation("worker_name", "worker_name must be 1 to 128 visible ASCII characters");
  if (request.slots === 0 || request.slots > SLOTS_MAX) throw ForgeError.validation("slots", `slots must be 1 to ${SLOTS_MAX}`);
  if (request.queues.length === 0 || request.queues.length > QUEUES_MAX) throw ForgeError.validation("queues", `queues must name 1 to ${QUEUES_MAX} queues`);
  if (request.capabilities.length > CAPABILITIES_MAX)
    throw ForgeError.validation("capabilities", `capabilities has ${request.capabilities.length} entries: at most ${CAPABILITIES_MAX}`);
  for (const queue of request.queues) {
    if (!/^[\x21-\x7e]{1,128}$/.test(queue)) throw ForgeError.validation("queues", `queue "${queue.slice(0, 40)}" must be 1 to 128 visible ASCII characters`);
    if (call.queues !== undefined && call.queues.length > 0 && !call.queues.includes(queue)) {
      throw new ForgeError(ErrorCode.PERMISSION_DENIED, `this credential does not grant queue ${queue}: it grants ${call.queues.join(", ")}`, {
        metadata: { field: "queues" },
      });
    }
  }
  for (const capability of request.capabilities) {
    if (capability.kind === CapabilityKind.UNSPECIFIED)
      throw ForgeError.validation("capabilities.kind", "a capability is of a model, a tool, a function, a hook or a workspace");
    if (!/^[\x21-\x7e]{1,256}$/.test(capability.name))
      throw ForgeError.validation("capabilities.name", "a capability's name must be 1 to 256 visible ASCII characters");
    if (capability.kind === CapabilityKind.MODEL && !capability.name.endsWith("/*")) {
      throw ForgeError.validation("capabilities.name", `model capability ${capability.name} must name a provider: for example openai/*`);
    }
    if (capability.kind === CapabilityKind.WORKSPACE && capability.name !== "undo")
      throw ForgeError.validation("capabilities.name", `workspace capability ${capability.name} is none that is known: undo is`);
    if ((capability.kind === CapabilityKind.TOOL) !== (capability.tool !== undefined))
      throw ForgeError.validation("capabilities.tool", `capability ${capability.name}: a tool carries its spec, nothing else does`);
    if (capability.tool !== undefined && capability.tool.name !== capability.name)
      throw ForgeError.validation("capabilities.tool.name", `capability ${capability.name} carries the spec of ${capability.tool.name}`);
  }
}

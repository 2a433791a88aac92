import { type Call, ForgeError, ROLES, roleName } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { TokenGrant } from "@forge/protocol/token";
import type { StoredPrincipal } from "../ports/index.ts";
import { checkTime } from "./check.ts";

export const TOKEN_NAME = /^[A-Za-z0-9.\-_:@]{1,128}$/;
const VISIBLE = /^[\x21-\x7e]{1,128}$/;
const NAMESPACES_MAX = 64;
const QUEUES_MAX = 64;
/** What the engine does by itself is recorded under these. */
const RESERVED = /^(?:control-plane|reaper|replica:.*|schedule:.*)$/;

/** What a token is to grant, checked against the protocol and what its caller may give. Errors: validation; permission_denied. */
export function checkGrant(grant: TokenGrant | undefined, call: Call, nowMs: number): StoredPrincipal {
  if (grant === undefined) throw ForgeError.validation("grant", "grant is missing");
  const { name, namespaces, queues } = grant;
  if (!TOKEN_NAME.test(name) || RESERVED.test(name)) {
    throw ForgeError.validation("grant.name", "grant.name must be 1 to 128 of letters, digits and .-_:@, and none of Forge's own names");
  }
  const role = roleName(grant.role);
  if (role === undefined) throw ForgeError.validation("grant.role", `grant.role must be one of ${ROLES.join(", ")}`);
  checkList(namespaces, "grant.namespaces", 1, NAMESPACES_MAX);
  checkList(queues, "grant.queues", 0, QUEUES_MAX);
  if (queues.length > 0 && role !== "worker") throw ForgeError.validation("grant.queues", `grant.queues is for the role worker; this one is ${role}`);
  const expiresAtMs = checkTime(grant.expiresAt, "grant.expires_at");
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) throw ForgeError.validation("grant.expires_at", "grant.expires_at has passed");
  if (call.expiresAtMs !== undefined && (expiresAtMs ?? Number.POSITIVE_INFINITY) > call.expiresAtMs) {
    throw new ForgeError(
      ErrorCode.PERMISSION_DENIED,
      `your credential ends at ${new Date(call.expiresAtMs).toISOString()}, so that what you grant must end by then`,
      {
        reason: "GRANT_TOO_LONG",
        metadata: { field: "grant.expires_at" },
      },
    );
  }
  const strange = namespaces.find((namespace) => !(call.namespaces ?? [call.namespace]).includes(namespace));
  if (strange !== undefined) {
    throw new ForgeError(ErrorCode.PERMISSION_DENIED, `your credential does not grant namespace ${strange}, so that you can't grant it either`, {
      reason: "NAMESPACE_NOT_GRANTED",
      metadata: { field: "grant.namespaces" },
    });
  }
  return { id: name, role, namespaces, queues, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
}

function checkList(names: readonly string[], field: string, least: number, most: number): void {
  if (names.length < least || names.length > most) throw ForgeError.validation(field, `${field} has ${names.length} entries: ${least} to ${most}`);
  const wrong = names.find((name) => !VISIBLE.test(name));
  if (wrong !== undefined) throw ForgeError.validation(field, `${field}: "${wrong.slice(0, 40)}" must be 1 to 128 visible ASCII characters`);
  if (new Set(names).size !== names.length) throw ForgeError.validation(field, `${field} names one twice`);
}

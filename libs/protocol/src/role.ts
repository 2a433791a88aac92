import { AccessRole } from "./gen/forge/common/v1/common_pb.ts";

/** What a credential may do, as SQL, TypeScript and the command line name it; forge.common.v1.AccessRole says what each means. */
export const ROLES = ["viewer", "operator", "approver", "admin", "worker"] as const;

export type Role = (typeof ROLES)[number];

/** The name of a role of the wire; undefined for one that this side does not know. */
export function roleName(role: AccessRole): Role | undefined {
  return ROLES.find((name) => accessRole(name) === role);
}

/** A role as the wire has it. */
export function accessRole(role: Role): AccessRole {
  return AccessRole[role.toUpperCase() as Uppercase<Role>];
}

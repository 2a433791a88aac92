import { AccessRole } from "./gen/forge/common/v1/common_pb.ts";
import { ROLES, type Role } from "./role-names.ts";

/** The name of a role of the wire; undefined for one that this side does not know. */
export function roleName(role: AccessRole): Role | undefined {
  return ROLES.find((name) => accessRole(name) === role);
}

/** A role as the wire has it. */
export function accessRole(role: Role): AccessRole {
  return AccessRole[role.toUpperCase() as Uppercase<Role>];
}

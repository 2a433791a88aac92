export type { Api, Call, CallOptions, Client } from "./api.ts";
export { checkText } from "./check-text.ts";
export { childOf } from "./child-of.ts";
export { ForgeError, type ForgeErrorOptions } from "./forge-error.ts";
export { isUuid, uuidV7, uuidV8 } from "./ids.ts";
export { accessRole, roleName } from "./role.ts";
export { ROLES, type Role } from "./role-names.ts";
export { toolIdentity } from "./tool-identity.ts";

/** What a credential may do, as SQL, TypeScript and the command line name it; forge.common.v1.AccessRole says what each means. */
export const ROLES = ["viewer", "operator", "approver", "admin", "worker"] as const;

export type Role = (typeof ROLES)[number];

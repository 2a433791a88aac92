import { randomUUID } from "node:crypto";

const TEMPORARY = /^\.forge-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.tmp$/;

/** A name for a file that is about to take the place of another one in its directory. */
export function temporaryName(): string {
  return `.forge-${randomUUID()}.tmp`;
}

/** Whether a name is one that `temporaryName` makes: such a file is nobody's work, and nothing looks at it. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}

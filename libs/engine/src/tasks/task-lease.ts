import { ForgeError } from "@forge/protocol";
import type { TaskLease } from "@forge/protocol/common";

const EPOCH_MAX = 2 ** 31 - 1;
const TOKEN_BYTES = 16;

/** A lease as a worker sends it. Errors: validation. */
export function checkLease(lease: TaskLease | undefined, field: string): TaskLease {
  if (lease === undefined) throw ForgeError.validation(field, `${field} is missing`);
  if (lease.epoch < 1 || lease.epoch > EPOCH_MAX) throw ForgeError.validation(`${field}.epoch`, `${field}.epoch must be the one that LeaseTasks gave`);
  if (lease.leaseToken.length !== TOKEN_BYTES)
    throw ForgeError.validation(`${field}.lease_token`, `${field}.lease_token must have ${TOKEN_BYTES} bytes, as LeaseTasks gave it`);
  return lease;
}

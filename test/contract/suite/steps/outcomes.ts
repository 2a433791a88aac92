import type { ForgeError } from "@forge/protocol";
import { refusal } from "../../../harness/refusal.ts";
import type { Outcome } from "../client.ts";

/** The answer of a call that was to succeed. */
export async function accepted<T>(call: Promise<Outcome<T>>): Promise<T> {
  const outcome = await call;
  if (outcome.error !== undefined) throw outcome.error;
  return outcome.response;
}

/** The error of a call that was to fail. */
export async function refused<T>(call: Promise<Outcome<T>>): Promise<ForgeError> {
  const { error } = await call;
  if (error === undefined) throw new Error("the call succeeded");
  return error;
}

/** What a call was refused with, in words; "accepted" where it was not. */
export async function refusalIn<T>(call: Promise<Outcome<T>>): Promise<string> {
  const { error } = await call;
  return error === undefined ? "accepted" : refusal(error);
}

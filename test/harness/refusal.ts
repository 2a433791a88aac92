import { ForgeError } from "@forge/protocol";
import { ErrorCodeSchema } from "@forge/protocol/common";

/** What a call was refused with, in words; "accepted" where it was not. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "accepted";
  } catch (error) {
    return refusal(error);
  }
}

/** A ForgeError as its code and reason; throws anything else. */
export function refusal(error: unknown): string {
  if (!(error instanceof ForgeError)) throw error;
  const { code, reason } = error;
  const name = ErrorCodeSchema.value[code]?.localName ?? String(code);
  return reason === "" ? name : `${name} ${reason}`;
}

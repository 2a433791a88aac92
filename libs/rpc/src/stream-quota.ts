import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** Counts the streams that each caller has open. */
export class StreamQuota {
  readonly #open = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place; the returned function gives it back. Errors: resource_exhausted. */
  take(principal: string): () => void {
    const open = this.#open.get(principal) ?? 0;
    if (open >= this.#max) throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `${principal} has ${open} streams open: close some`, { reason: "STREAMS" });
    this.#open.set(principal, open + 1);
    return () => {
      const left = (this.#open.get(principal) ?? 1) - 1;
      if (left === 0) this.#open.delete(principal);
      else this.#open.set(principal, left);
    };
  }
}

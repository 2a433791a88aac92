import { EVALUATION_STEPS_MAX } from "./limits.ts";
import { TextFailure } from "./result.ts";

/** Counts the work of one evaluation. Functions and operators fail through it, at the node that is being evaluated. */
export class Work {
  #steps = 0;
  /** The offset that a failure points at. */
  position = 0;

  /** Counts `steps` units; throws TextFailure when there are too many. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > EVALUATION_STEPS_MAX) this.fail("the expression does too much work");
  }

  /** Counts reading or making a text of so many UTF-16 units. */
  spendText(length: number): void {
    this.spend(1 + Math.ceil(length / 32));
  }

  /** Counts looking for one text in another: the worst case compares all of `wanted` at each place, and that is what hostile texts bring about. */
  spendSearch(text: string, wanted: string): void {
    const places = Math.max(0, text.length - wanted.length) + 1;
    this.spend(1 + Math.ceil(text.length / 32) + Math.ceil((places * wanted.length) / 4096));
  }

  fail(message: string): never {
    throw new TextFailure(message, this.position);
  }
}

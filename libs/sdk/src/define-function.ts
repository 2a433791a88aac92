import { z } from "zod";
import type { FunctionContext } from "./context.ts";
import { checkName, DEFINITION, type FunctionDefinition } from "./definition.ts";
import { parseInput } from "./parse-input.ts";

/** What a workflow function is made of. */
export interface FunctionOptions<Input extends z.ZodType> {
  /** As steps name it, for example pricing.quote: 1 to 256 of letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** Checks and converts the inputs of the step; absent: any. */
  readonly input?: Input;
  /** Resolves with an object that JSON can hold: the step's output. Counts as idempotent, so a lost attempt is made again. */
  run(input: z.output<Input>, context: FunctionContext): unknown;
}

const ANY = z.record(z.string(), z.unknown());

/** A function that steps of workflows may call. Errors: validation, DEFINITION, naming the field. */
export function defineFunction<Input extends z.ZodType = typeof ANY>(options: FunctionOptions<Input>): FunctionDefinition {
  const { name } = options;
  const schema: z.ZodType = options.input ?? ANY;
  checkName("function", name, /^[\w.-]{1,256}$/, "1 to 256 of letters, digits, dots, underscores and hyphens");
  return {
    [DEFINITION]: "function",
    name,
    parse: (input) => parseInput(schema, input, { root: "input", reason: "FUNCTION_INPUT", consequence: "the function was not called" }),
    run: (value, context) => options.run(value as z.output<Input>, context),
  };
}

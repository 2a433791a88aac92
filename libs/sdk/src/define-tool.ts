import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ToolSpecSchema } from "@forge/protocol/tool";
import { z } from "zod";
import type { ToolContext } from "./context.ts";
import { checkName, DEFINITION, invalidDefinition, type ToolDefinition } from "./definition.ts";
import { parseInput } from "./parse-input.ts";
import { type Preview, RISKS } from "./preview.ts";

/** What a tool is made of. */
export interface ToolOptions<Input extends z.ZodType> {
  /** Dotted, for example weather.forecast: 1 to 128 of letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** What the model is told of it; at most 4,096 characters. */
  readonly description: string;
  /** An object; arguments that don't match it never reach `run`. */
  readonly input: Input;
  /** True only where calling twice with one idempotency key has the effect of once. Absent: false. */
  readonly idempotent?: boolean;
  /** What it can do to the world: read; change files in the workspace; execute commands or reach the network. Absent: execute. */
  readonly risk?: "read" | "change" | "execute";
  /** The longest that one call may take, 1 ms to 7 days. Absent: 60 s. */
  readonly timeoutMs?: number;
  /**
   * Tells what a call would do, and does nothing. What it throws is the call's error: nobody is asked about what can't be done. Where the call was decided on a
   * preview it is asked again right before `run`, and where its facts differ the call fails with PREVIEW_STALE.
   */
  preview?(input: z.output<Input>, context: ToolContext): Preview | Promise<Preview>;
  /** Resolves with what JSON can hold; nothing is null. What it throws is told to the model: a ForgeError as it is, anything else by its message. */
  run(input: z.output<Input>, context: ToolContext): unknown;
}

const DESCRIPTION_LENGTH_MAX = 4096;
const SCHEMA_BYTES_MAX = 16 * 1024;
const TIMEOUT_MS_DEFAULT = 60_000;
const TIMEOUT_MS_MAX = 7 * 86_400_000;

/** A tool that agents may be given and that steps of workflows may call. Errors: validation, DEFINITION, naming the field. */
export function defineTool<Input extends z.ZodType>(options: ToolOptions<Input>): ToolDefinition {
  const { name, description, input, idempotent = false, risk = "execute", timeoutMs = TIMEOUT_MS_DEFAULT } = options;
  checkName("tool", name, /^[\w.-]{1,128}$/, "1 to 128 of letters, digits, dots, underscores and hyphens");
  if (description.length > DESCRIPTION_LENGTH_MAX)
    throw invalidDefinition("description", `tool ${name}: the description has more than ${DESCRIPTION_LENGTH_MAX} characters`);
  if (!Object.hasOwn(RISKS, risk)) throw invalidDefinition("risk", `tool ${name}: risk is read, change or execute`);
  if (!(timeoutMs >= 1 && timeoutMs <= TIMEOUT_MS_MAX)) throw invalidDefinition("timeoutMs", `tool ${name}: timeoutMs is 1 to ${TIMEOUT_MS_MAX}`);
  return {
    [DEFINITION]: "tool",
    name,
    spec: create(ToolSpecSchema, {
      name,
      description,
      inputSchemaJson: inputSchemaJson(name, input),
      idempotent,
      risk: RISKS[risk],
      timeout: durationFromMs(timeoutMs),
      previews: options.preview !== undefined,
    }),
    parse: (args) => parseInput(input, args, { root: "arguments", reason: "TOOL_ARGUMENTS", consequence: "the tool was not called" }),
    ...(options.preview === undefined ? {} : { preview: (value: unknown, context: ToolContext) => options.preview?.(value as z.output<Input>, context) }),
    run: (value, context) => options.run(value as z.output<Input>, context),
  };
}

/** The JSON Schema (2020-12) of what a caller writes, before defaults and conversions. */
function inputSchemaJson(name: string, input: z.ZodType): string {
  let schema: z.core.JSONSchema.BaseSchema;
  try {
    schema = z.toJSONSchema(input, { io: "input" });
  } catch (error) {
    throw invalidDefinition("input", `tool ${name}: the input has no JSON Schema: ${(error as Error).message}`);
  }
  if (schema.type !== "object") throw invalidDefinition("input", `tool ${name}: the input is an object, for example z.object({ city: z.string() })`);
  const json = JSON.stringify(schema);
  if (Buffer.byteLength(json) > SCHEMA_BYTES_MAX)
    throw invalidDefinition("input", `tool ${name}: the JSON Schema of the input has more than ${SCHEMA_BYTES_MAX} bytes`);
  return json;
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { BudgetSchema } from "@forge/protocol/session";
import { readDurationMs } from "../definition/read-duration.ts";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import type { Strategy } from "./read-strategy.ts";

/** Model calls of a loop that gives no bound. */
const MODEL_CALLS_DEFAULT = 10;
const MODEL_CALLS_MAX = 1_000;
const TOOL_CALLS_MAX = 10_000;
const STEPS_MAX = 1_000;
const COST_USD_MAX = 1_000_000;
/** What is finer is not counted. */
const COST_USD_MIN = 0.000_001;
/** A month. */
const WALL_TIME_MS_MAX = 30 * 24 * 3_600_000;

export const BUDGET_KEYS = ["model_calls", "tool_calls", "tokens", "cost", "wall_time", "steps"];

type BudgetInit = Exclude<MessageInitShape<typeof BudgetSchema>, { readonly $typeName: string }>;

/**
 * An agent's `budget` with its strategy, which bounds the model calls as well. Of `single`, `repeats` are calls that only take the place of one that did not
 * serve: they don't make it a loop.
 */
export function readBudget(reader: YamlReader, entry: YamlEntry | undefined, strategy: Strategy | undefined, repeats: number): BudgetInit {
  const entries = (entry && reader.mapping(entry.value, "budget")) ?? new Map<string, YamlEntry>();
  reader.checkKeys(entries, "budget", BUDGET_KEYS);
  const count = (key: string, min: number, max: number): number | undefined => {
    const given = entries.get(key);
    return given && reader.number(given.value, `budget.${key}`, min, max, true);
  };
  const [cost, wallTime] = [entries.get("cost"), entries.get("wall_time")];
  const modelCalls = count("model_calls", 1, MODEL_CALLS_MAX);
  checkModelCalls(reader, entries.get("model_calls"), strategy);
  const tokens = count("tokens", 1, Number.MAX_SAFE_INTEGER);
  const dollars = cost && reader.number(cost.value, "budget.cost (dollars)", COST_USD_MIN, COST_USD_MAX);
  const wallTimeMs = wallTime && readDurationMs(reader, wallTime.value, "budget.wall_time", 1, WALL_TIME_MS_MAX);
  const looped = strategy === "single" || strategy === undefined ? 1 + repeats : (strategy.modelCalls ?? MODEL_CALLS_DEFAULT);
  return {
    modelCalls: modelCalls ?? looped,
    toolCalls: count("tool_calls", 0, TOOL_CALLS_MAX),
    tokens: tokens === undefined ? undefined : BigInt(tokens),
    costMicroUsd: dollars === undefined ? undefined : BigInt(Math.round(dollars * 1_000_000)),
    wallTime: wallTimeMs === undefined ? undefined : durationFromMs(wallTimeMs),
    steps: count("steps", 1, STEPS_MAX),
  };
}

/** The same bound can be said in one place only. */
function checkModelCalls(reader: YamlReader, entry: YamlEntry | undefined, strategy: Strategy | undefined): void {
  if (entry === undefined || strategy === undefined) return;
  if (strategy === "single") reader.problems.add(entry.offset, "budget.model_calls bounds a loop, and the strategy is single; expected strategy react");
  else if (strategy.modelCalls !== undefined) reader.problems.add(entry.offset, "budget.model_calls and the strategy's max_iterations; expected one of them");
}

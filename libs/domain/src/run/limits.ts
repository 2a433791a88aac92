/** Steps of a definition: what a person can still inspect, and what a state can still hold. */
export const STEPS_MAX = 10_000;

/** Items of one list. */
export const ITEMS_MAX = 10_000;

/** Executions of steps and items in one run. */
export const EXECUTIONS_MAX = 50_000;

/** Executions at once where a workflow says nothing. */
export const PARALLEL_DEFAULT = 16;

/** Executions at once that a workflow may ask for. */
export const PARALLEL_MAX = 1_000;

/** Runs below each other. */
export const RUN_DEPTH_MAX = 8;

/** Signals that may wait in a run for a step. */
export const SIGNALS_MAX = 1_000;

/** How far ahead a wait may end: a year. */
export const WAIT_MS_MAX = 366 * 24 * 3_600_000;

/** Executions of one step: a loop that has not ended by then is one that does not end. */
export const STEP_EXECUTIONS_MAX = 1_000;

/** Bytes of an encoded definition: one event and one request carry it whole. */
export const DEFINITION_BYTES_MAX = 4 * 1024 * 1024;

/** Characters of ids, names, labels and queues. */
export const NAME_LENGTH_MAX = 128;

/** Characters of a capability's name: a function, a model. */
export const CAPABILITY_LENGTH_MAX = 256;

/** Characters of a concurrency key. */
export const CONCURRENCY_KEY_LENGTH_MAX = 256;

/** Runs with one concurrency key that a limit may allow at a time. */
export const CONCURRENCY_LIMIT_MAX = 1_000;

export const PRIORITY_MAX = 9;

/** Labels of a run. */
export const LABELS_MAX = 32;

/** Declared inputs of a workflow, inputs of a step, and declared outputs of a step. */
export const DECLARATIONS_MAX = 1_000;

/** Branch rules of a step. */
export const RULES_MAX = 100;

/** Bytes of a rendered prompt, as the session takes it. */
export const PROMPT_BYTES_MAX = 65_536;

/** Bytes of UTF-8 of a value that stays inline; what is larger belongs into the artifact store. */
export const VALUE_BYTES_MAX = 65_536;

/** Bytes of all inline inputs of one step: four whole values. */
export const STEP_INPUT_BYTES_MAX = 4 * VALUE_BYTES_MAX;

/** Bytes of all inline outputs that a run's state holds at once; artifacts count only as references. */
export const STATE_OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** How deep a JSON value may be nested: far inside the stack of everything that walks it. */
export const JSON_DEPTH_MAX = 200;

/** Attempts of a step, and the longest distance between two. */
export const ATTEMPTS_MAX = 100;
export const RETRY_DELAY_MS_MAX = 3_600_000;

/** The longest timeout of an attempt: a week is longer than anybody waits for an approval. */
export const TIMEOUT_MS_MAX = 7 * 24 * 3_600_000;

/** Of an attempt of a function or tool step that declares no timeout. Agents have the wall time of their session's budget. */
export const TIMEOUT_MS_DEFAULT = 60_000;

/** Warnings in the answer to a start. */
export const WARNINGS_MAX = 100;

/** Ended tool calls that a late answer is still assigned to: it comes within minutes or never. */
export const ENDED_CALLS_MAX = 64;

/** Needs of a step. */
export const NEEDS_MAX = 1_000;

/** Bytes of the JSON Schema of a step's output. */
export const OUTPUT_SCHEMA_BYTES_MAX = 65_536;

/** The longest time that a whole run may take: a year. */
export const DEADLINE_MS_MAX = 366 * 24 * 3_600_000;

import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Backoff, type RetryPolicy, RetryPolicySchema } from "@forge/protocol/common";
import { isScalar, type Node } from "yaml";
import type { YamlReader } from "../yaml/yaml-reader.ts";
import { readDurationMs } from "./read-duration.ts";

const ATTEMPTS_MAX = 100;
const DELAY_MS_MAX = 3_600_000;
/** What `jitter: true` stands for: enough to spread those who failed together, without doubling anybody's wait. */
const JITTER_DEFAULT = 0.5;

/** A step's `retry`: attempts (1), backoff (fixed), initial_delay (0 s), jitter (none). */
export function readRetry(reader: YamlReader, node: Node): RetryPolicy | undefined {
  const entries = reader.mapping(node, "retry");
  if (entries === undefined) return undefined;
  reader.checkKeys(entries, "retry", ["attempts", "backoff", "initial_delay", "jitter"]);
  const [attempts, backoff, delay, jitter] = [entries.get("attempts"), entries.get("backoff"), entries.get("initial_delay"), entries.get("jitter")];
  return create(RetryPolicySchema, {
    attempts: (attempts && reader.number(attempts.value, "retry.attempts", 1, ATTEMPTS_MAX, true)) ?? 1,
    backoff: (backoff && reader.choice(backoff.value, "retry.backoff", ["fixed", "exponential"])) === "exponential" ? Backoff.EXPONENTIAL : Backoff.FIXED,
    initialDelay: durationFromMs((delay && readDurationMs(reader, delay.value, "retry.initial_delay", 0, DELAY_MS_MAX)) ?? 0),
    jitter: (jitter && readJitter(reader, jitter.value)) ?? 0,
  });
}

/** true, or how long a part of the delay is added at most. */
function readJitter(reader: YamlReader, node: Node | null): number | undefined {
  const scalar = reader.resolve(node);
  if (isScalar(scalar) && typeof scalar.value === "boolean") return scalar.value ? JITTER_DEFAULT : 0;
  return reader.number(node, "retry.jitter", 0, 1);
}

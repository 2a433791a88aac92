import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type HookSpec, HookSpecSchema } from "@forge/protocol/session";
import { HOOK_POINTS, type HookPoint } from "@forge/worker";
import type { HookEvent, ProjectHook } from "./hooks-config.ts";

/** Between the hook's own limit, at which its process is killed, and the control plane's, at which nobody waits any more. */
const MARGIN_MS = 5_000;
const TIMEOUT_MS_MAX = 300_000;

/** What agents must be created with for hooks of a project or person to be called in their loop. */
export function hookSpecs(hooks: readonly ProjectHook[]): HookSpec[] {
  return hooks.flatMap(({ name, at, timeoutMs }) => {
    const points = at.filter(isLoopPoint);
    if (points.length === 0) return [];
    const timeout = durationFromMs(Math.min(TIMEOUT_MS_MAX, timeoutMs + MARGIN_MS));
    return [create(HookSpecSchema, { name, at: points.map((point) => HOOK_POINTS[point]), timeout })];
  });
}

export function isLoopPoint(event: HookEvent): event is HookPoint {
  return Object.hasOwn(HOOK_POINTS, event);
}

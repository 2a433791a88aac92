import type { Event } from "@forge/protocol/event";
import { type LifecycleEvent, lifecycle, type Project } from "@forge/workflow";
import type { Context } from "../context.ts";

/** Gets every event of a run and of the sessions that work for it. */
export type LifecycleLog = (event: Event) => void;

const LEVELS = ["debug", "info", "warning", "error"] as const;

/**
 * A line of JSON on standard error for each lifecycle event, where the project's configuration says `logging.format: json` itself. On a terminal there is
 * none: a person is shown the run.
 */
export function lifecycleLog({ terminal }: Pick<Context, "terminal">, project: Pick<Project, "config" | "placeOf">): LifecycleLog | undefined {
  const { format, level } = project.config.logging;
  if (format !== "json" || project.placeOf("logging.format") === undefined || terminal.isLive) return undefined;
  const from = LEVELS.indexOf(level === "warn" ? "warning" : level);
  const step = lifecycle();
  return (event) => {
    for (const each of step(event)) if (LEVELS.indexOf(levelOf(each)) >= from) terminal.note(lifecycleLine(each));
  };
}

/** One line of JSON: the event's name, then its payload. */
export function lifecycleLine({ event, payload }: LifecycleEvent): string {
  return JSON.stringify({ event, ...payload });
}

function levelOf({ event }: LifecycleEvent): (typeof LEVELS)[number] {
  if (event === "STATE_OVERWRITE") return "warning";
  return event.endsWith("_ERROR") ? "error" : "info";
}

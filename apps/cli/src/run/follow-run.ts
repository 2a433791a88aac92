import { commandHeader } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { askAboutInterrupt } from "../ask-about-interrupt.ts";
import type { Context } from "../context.ts";
import { createLiveRegion } from "../output/live-region.ts";
import { SPINNER_MS } from "../output/spinner.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { onSignals } from "../signals.ts";
import type { RunView } from "./run-view.ts";

export interface FollowRunOptions {
  readonly runId: string;
  readonly hint: string;
  /** Only what comes after this event; absent: all of it. */
  readonly afterSeq?: number | undefined;
  /** Absent where `onEvent` shows the run. */
  readonly view?: RunView;
  readonly onEvent?: ((event: Event) => void) | undefined;
  /** Nobody reads along who could be asked. */
  readonly isQuiet?: boolean;
}

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);
const DELTAS = ["turn.output_delta", "tool.output_delta"];

/**
 * Follows a run to its end. Ctrl-C on a terminal asks whether to detach, cancel or wait; elsewhere it cancels, and a second one leaves at once. A hangup or
 * SIGTERM detaches.
 */
export async function followRun(
  { terminal }: Context,
  link: ProjectLink,
  { runId, hint, afterSeq, view, onEvent, isQuiet = false }: FollowRunOptions,
): Promise<"ended" | "detached" | "left"> {
  const leave = new AbortController();
  const isLive = view !== undefined && terminal.isLive;
  const region = createLiveRegion(terminal.out, terminal.columns, { hidesCursor: true });
  const kept: string[] = [];
  let asking: AbortController | undefined;
  let result = "ended" as "ended" | "detached" | "left";
  let cancels = 0;
  let hasEnded = false;

  const draw = (): void => {
    if (isLive && asking === undefined) region.draw(view.liveLines(Date.now()));
  };
  const keep = (lines: readonly string[]): void => {
    if (asking !== undefined) kept.push(...lines);
    else if (isLive) region.keep(lines);
    else for (const line of lines) terminal.print(line);
  };
  const detach = (): void => {
    result = "detached";
    leave.abort();
  };
  const cancel = (): void => {
    cancels++;
    const header = commandHeader();
    link
      .call((client) => client.workflow.cancelRun({ header, runId }))
      .catch((error: unknown) => {
        // A run that has ended meanwhile has nothing to cancel; the end follows.
        terminal.note(error instanceof Error ? error.message : String(error));
      });
  };
  const interrupt = async (): Promise<void> => {
    if (!terminal.canAsk || isQuiet) {
      if (cancels === 0) return cancel();
      result = "left";
      return leave.abort();
    }
    if (asking !== undefined) return;
    asking = new AbortController();
    region.close();
    const answer = await askAboutInterrupt({ what: "run", outlives: link.outlives, signal: asking.signal });
    asking = undefined;
    if (hasEnded) return;
    if (answer === "detach") return detach();
    keep(kept.splice(0));
    if (answer === "cancel") cancel();
    draw();
  };
  const release = onSignals({ SIGINT: () => void interrupt(), SIGTERM: detach, SIGHUP: detach });
  const timer = isLive ? setInterval(draw, SPINNER_MS) : undefined;
  try {
    const streams = [{ stream: { kind: StreamKind.RUN, id: runId }, afterSeq }];
    for await (const followed of link.follow({ streams, followChildren: true, excludeKinds: isLive ? [] : DELTAS, signal: leave.signal })) {
      if (followed.kind !== "event") continue;
      const { event } = followed;
      onEvent?.(event);
      const lines = view?.apply(event) ?? [];
      if (lines.length > 0) keep(lines);
      if (event.stream?.id === runId && ENDS.has(event.kind)) break;
    }
  } finally {
    hasEnded = true;
    clearInterval(timer);
    asking?.abort();
    region.close();
    for (const line of kept.splice(0)) terminal.print(line);
    release();
  }
  if (result === "detached") {
    const goesOn = link.outlives ? "The run goes on" : "The run goes on when Forge is next started here";
    terminal.note(`${goesOn}: npx forge events ${runId} --follow --children${hint}`);
  }
  return result;
}

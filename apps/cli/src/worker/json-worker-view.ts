import { ForgeErrorSchema } from "@forge/protocol/common";
import type { FileWorkerEvent } from "@forge/sdk/file-worker";
import { toForgeError } from "../output/error-report.ts";
import { messageJson } from "../output/message-json.ts";
import type { Terminal } from "../output/terminal.ts";
import { callFacts } from "./call-facts.ts";
import { servedNames } from "./served-names.ts";
import type { WorkerStart, WorkerView } from "./worker-view.ts";

/** One JSON object a line, named for what it tells. */
export class JsonWorkerView implements WorkerView {
  readonly #terminal: Terminal;
  readonly #file: string;
  #start: WorkerStart | undefined;

  constructor(terminal: Terminal, file: string) {
    this.#terminal = terminal;
    this.#file = file;
  }

  onStart(worker: WorkerStart): void {
    this.#start = worker;
  }

  onEvent(event: FileWorkerEvent): void {
    switch (event.kind) {
      case "serving": {
        const { name, queues, url } = this.#start as WorkerStart;
        this.#print("serving", { name, queues, url, file: this.#file, pid: event.pid, reloaded: event.isReload, ...servedNames(event.capabilities) });
        return;
      }
      case "called": {
        const { durationMs, sessionId, runId, stepId, error, ...facts } = callFacts(event);
        const ids = { session_id: sessionId, run_id: runId, step_id: stepId };
        this.#print("call", { ...facts, duration_ms: durationMs, ...ids, error: error === undefined ? undefined : messageJson(ForgeErrorSchema, error) });
        return;
      }
      case "waiting":
        this.#print("waiting", { calls: event.calls });
        return;
      case "exited":
        this.#print("exited", { pid: event.pid, how: event.how, restart_ms: Math.round(event.restartMs) });
        return;
      case "stuck":
        this.#print("stuck", { pid: event.pid });
        return;
      case "problem":
        this.onProblem(event.error);
        return;
      case "log":
        this.#print("log", { level: event.level, message: event.message });
        return;
      case "output":
        this.#print("output", { stream: event.stream, line: event.line });
    }
  }

  onMoved(url: string): void {
    this.#print("moved", { url });
  }

  onProblem(error: unknown): void {
    this.#print("problem", { error: messageJson(ForgeErrorSchema, toForgeError(error).detail) });
  }

  onEnd(): void {
    this.#print("ending", {});
  }

  onReplaced(name: string): void {
    this.#print("replaced", { name });
  }

  #print(name: string, value: object): void {
    this.#terminal.print(JSON.stringify({ [name]: value }));
  }
}

import type { Said } from "./said.ts";

/** What a call is said with, before `--json`; everything that the request holds has to be taken from it. */
export type ToWords = (request: Said) => { readonly command: readonly string[]; readonly options?: readonly string[]; readonly texts?: readonly string[] };

const SESSION = "forge.session.v1.SessionService";

/** The words of every method that the command line has, by the method's full name. */
export const WORDS: ReadonlyMap<string, ToWords> = new Map<string, ToWords>([
  [
    `${SESSION}/CreateSession`,
    (request) => ({
      command: ["session", "create"],
      options: [
        ...header(request),
        ...request.option("--model", "agent", "model"),
        ...request.option("--system", "agent", "system"),
        ...request.list("agent", "tools").map((tool) => `--tool=${tool}`),
        ...request.option("--queue", "queue"),
        ...request.option("--title", "title"),
        ...labels(request),
        ...policy(request),
      ],
    }),
  ],
  [
    `${SESSION}/ForkSession`,
    (request) => ({
      command: ["session", "fork"],
      options: [...header(request), ...request.option("--seq", "through_seq"), ...request.option("--title", "title"), ...labels(request)],
      texts: [request.text("session_id")],
    }),
  ],
  [`${SESSION}/UpdateSessionPolicy`, (request) => inSession("policy", request, [...policy(request)])],
  [`${SESSION}/CompactSession`, (request) => inSession("compact", request, request.option("--seq", "through_seq"), "summary")],
  [
    `${SESSION}/UndoChanges`,
    (request) => ({
      command: ["session", "undo"],
      options: [...header(request), ...turn(request)],
      texts: [request.text("session_id"), ...request.list("change_ids")],
    }),
  ],
  [`${SESSION}/RewindSession`, (request) => inSession("rewind", request, request.option("--seq", "through_seq"))],
  [`${SESSION}/CloseSession`, (request) => inSession("close", request, [])],
  [`${SESSION}/GetSessionSnapshot`, (request) => ({ command: ["inspect"], texts: [request.text("session_id")] })],
  [
    `${SESSION}/StartTurn`,
    (request) => ({ command: ["session", "start"], options: header(request), texts: [request.text("session_id"), request.onlyText("input")] }),
  ],
  [
    `${SESSION}/SteerTurn`,
    (request) => ({
      command: ["session", "steer"],
      options: [...header(request), ...turn(request)],
      texts: [request.text("session_id"), request.onlyText("input")],
    }),
  ],
  [`${SESSION}/PauseTurn`, (request) => inSession("pause", request, turn(request))],
  [`${SESSION}/ContinueTurn`, (request) => inSession("continue", request, turn(request))],
  [
    `${SESSION}/CancelTurn`,
    (request) => ({ command: ["cancel", "--detach"], options: [...header(request), ...turn(request)], texts: [request.text("session_id")] }),
  ],
  [`${SESSION}/AbandonTurn`, (request) => inSession("abandon", request, turn(request), "reason")],
  [`${SESSION}/ProvideInput`, (request) => inSession("answer", request, [...turn(request), ...request.option("--input", "input_id")], "text")],
  [
    "forge.event.v1.ApprovalService/ResolveApproval",
    (request) => ({
      command: ["approve"],
      options: [...header(request), ...decision(request), ...request.option("--comment", "comment")],
      texts: [stream(request), request.text("approval_id")],
    }),
  ],
  ["forge.workflow.v1.WorkflowService/GetRun", (request) => ({ command: ["inspect"], texts: [request.text("run_id")] })],
  [
    "forge.workflow.v1.WorkflowService/CancelRun",
    (request) => ({ command: ["cancel", "--detach"], options: header(request), texts: [request.text("run_id")] }),
  ],
]);

function inSession(verb: string, request: Said, options: readonly string[], ...texts: readonly string[]): ReturnType<ToWords> {
  return { command: ["session", verb], options: [...header(request), ...options], texts: ["session_id", ...texts].map((name) => request.text(name)) };
}

/** A command's id is said even where there is none, so that it is refused as it would be elsewhere. */
function header(request: Said): string[] {
  request.expect("1", "header", "version", "major");
  return [`--command-id=${request.text("header", "command_id")}`, ...request.option("--expected-seq", "header", "expected_seq")];
}

function turn(request: Said): string[] {
  return request.option("--turn", "turn_id");
}

function labels(request: Said): string[] {
  return request.entries("labels").map(([key, value]) => `--label=${key}=${value}`);
}

function policy(request: Said): string[] {
  const rules = request.objects("policy", "rules").map((rule) => `--rule=${rule.text("tool")}=${decisionName(rule.text("decision"))}`);
  return [...request.option("--default", "policy", "default_decision").map(decisionName), ...rules];
}

function decision(request: Said): string[] {
  const name = decisionName(request.text("decision"));
  if (name !== "allow" && name !== "deny") throw new Error(`the command line can't answer ${name}`);
  return name === "deny" ? ["--deny"] : [];
}

function decisionName(text: string): string {
  return text.replace("DECISION_", "").toLowerCase();
}

function stream(request: Said): string {
  // The command line finds out by itself what an id names.
  request.text("stream", "kind");
  return request.text("stream", "id");
}

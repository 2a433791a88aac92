import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import type { Session } from "@forge/protocol/session";
import { ToolMode, ToolModeSchema } from "@forge/protocol/tool";
import type { TurnContext } from "../agent/turn-context.ts";
import { askAboutInterrupt } from "../ask-about-interrupt.ts";
import type { Context } from "../context.ts";
import { editText } from "../edit-text.ts";
import { EXIT } from "../exit-code.ts";
import { errorLines } from "../output/error-report.ts";
import { enumName } from "../output/message-json.ts";
import type { Terminal } from "../output/terminal.ts";
import { oneLine, wrapWords } from "../output/text.ts";
import { readArtifactText } from "../server/artifact-value.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { onSignals } from "../signals.ts";
import { askApproval } from "./ask-approval.ts";
import { chatCompleter } from "./chat-completer.ts";
import { ChatView } from "./chat-view.ts";
import { Conversation } from "./conversation.ts";
import { type LineHistory, openLineHistory } from "./line-history.ts";
import type { OpenApproval } from "./open-calls.ts";
import { performCommand } from "./perform-command.ts";
import { type Completer, type ReadLine, readLine } from "./read-line.ts";
import { type ChatLine, parseChatLine } from "./slash-command.ts";
import { TurnLines } from "./turn-lines.ts";
import type { TypeAhead } from "./type-ahead.ts";

export interface ConverseOptions {
  readonly link: ProjectLink;
  readonly session: Session;
  readonly hint: string;
  readonly typed: TypeAhead;
  readonly turns: TurnContext;
  /** Throws where the workspace is not one in which nothing needs to be asked. */
  readonly checkBypass: () => Promise<void>;
}

/** Of a diff, how much of the terminal's height it may take. */
const DIFF_SHARE = 0.7;
const DIFF_LINES_MIN = 8;

/** A conversation with a person at a terminal; it may go on in another session. */
export async function converse(context: Context, options: ConverseOptions): Promise<number> {
  const history = await openLineHistory(options.link);
  let { session } = options;
  for (;;) {
    const talk = new Talk(context, { ...options, session }, history);
    const release = onSignals({ SIGINT: () => talk.interrupt(), SIGTERM: () => talk.detach(), SIGHUP: () => talk.detach() });
    let next: string | undefined;
    try {
      next = await talk.run();
    } finally {
      release();
      await talk.end();
    }
    if (next === undefined) return EXIT.OK;
    const sessionId = next;
    session = (await options.link.call((client) => client.session.getSessionSnapshot({ sessionId }))).session as Session;
  }
}

class Talk {
  readonly #terminal: Terminal;
  readonly #link: ProjectLink;
  readonly #attach: string;
  readonly #view: ChatView;
  readonly #conversation: Conversation;
  readonly #typedAhead: TypeAhead;
  readonly #history: LineHistory;
  readonly #options: ConverseOptions;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #complete: Completer;
  /** Where the conversation goes on, or that it does not. */
  #next: { readonly sessionId?: string } | undefined;
  /** What the next line begins with. */
  #typedNext = "";
  /** While a person is asked, what comes is held back, so that it does not run over the question. */
  #isAsking = false;
  #held = "";
  /** Takes the line that is being typed away, to show what has come. */
  #prompt: AbortController | undefined;
  #question: AbortController | undefined;
  /** Open while an answer is written. */
  #lines: TurnLines | undefined;
  #interrupts = 0;
  #hasDetached = false;

  constructor({ terminal, environment }: Context, options: ConverseOptions, history: LineHistory) {
    const { link, session, hint, typed } = options;
    this.#options = options;
    this.#environment = environment;
    this.#history = history;
    this.#complete = chatCompleter(link.root);
    this.#terminal = terminal;
    this.#typedAhead = typed;
    this.#link = link;
    this.#attach = `npx forge chat ${session.sessionId}${hint}`;
    const diffLinesMax = (): number => Math.max(DIFF_LINES_MIN, Math.floor((terminal.rows?.() ?? 0) * DIFF_SHARE));
    this.#view = new ChatView({ style: terminal.style, columns: terminal.columns, diffLinesMax });
    const { style } = terminal;
    const mode = session.policy?.mode ?? ToolMode.UNSPECIFIED;
    const told = mode === ToolMode.UNSPECIFIED || mode === ToolMode.ACT ? "" : `  ${style.yellow(enumName(ToolModeSchema, mode).toLowerCase())}`;
    terminal.print(`${style.bold("Session")} ${session.sessionId}  ${oneLine(session.agent?.model ?? "")}${told}`);
    terminal.print(
      style.dim(`Attach again: ${this.#attach}\nCtrl-C cancels a turn, Ctrl-D leaves. What you type while a turn runs steers it; /help lists commands.`),
    );
    this.#conversation = new Conversation({
      link,
      sessionId: session.sessionId,
      excludeKinds: ["tool.output_delta"],
      onEvent: (event, isOwn) => this.#show(event, isOwn),
      onChildEvent: (event) => this.#write(this.#view.applyChild(event)),
    });
  }

  /** Until the person leaves; the id of the session in which the conversation goes on, where there is one. */
  async run(): Promise<string | undefined> {
    await this.#conversation.until((state) => state.isCaughtUp);
    let hasInterrupted = false;
    for (let text = ""; ; ) {
      await this.#untilIdle();
      this.#interrupts = 0;
      if (this.#hasDetached) return undefined;
      if (this.#next !== undefined) return this.#next.sessionId;
      if (!this.#view.isAtLineStart) this.#write("\n");
      if (text === "") text = this.#typedNext;
      this.#typedNext = "";
      const read = await this.#readPrompt(text);
      text = read.kind === "aborted" ? read.text : "";
      if (this.#hasDetached || read.kind === "end") return undefined;
      if (read.kind === "interrupt") {
        if (hasInterrupted) return undefined;
        hasInterrupted = true;
        this.#terminal.print(this.#terminal.style.dim("Ctrl-C again, or Ctrl-D, leaves. The session stays."));
        continue;
      }
      hasInterrupted = false;
      if (read.kind !== "line" || read.text.trim() === "") continue;
      await this.#history.keep(read.text);
      const line = parseChatLine(read.text);
      if (line.kind !== "say") await this.#perform(line);
      else if (!(await this.#say(line.text))) text = read.text;
    }
  }

  /** False where another client was faster. What the session refuses to hear is told, and the conversation goes on. */
  async #say(text: string): Promise<boolean> {
    try {
      if (await this.#conversation.say(await this.#options.turns.input(text))) return true;
      this.#terminal.print(this.#terminal.style.dim("Somebody else has just started a turn; this line waits."));
      return false;
    } catch (error) {
      if (!(error instanceof ForgeError && error.code === ErrorCode.VALIDATION)) throw error;
      for (const line of errorLines(error.detail, this.#terminal.style)) this.#terminal.print(line);
      return true;
    }
  }

  /** Ctrl-C while no line is being typed. */
  interrupt(): void {
    if (this.#question !== undefined) return;
    this.#interrupts++;
    const work = this.#interrupts === 1 ? this.#cancel() : this.#ask();
    work.catch((error: unknown) => this.#terminal.note(error instanceof Error ? error.message : String(error)));
  }

  /** Leaves; what runs goes on. */
  detach(): void {
    this.#hasDetached = true;
    this.#prompt?.abort();
    this.#question?.abort();
    void this.#conversation.leave();
  }

  async end(): Promise<void> {
    const isActive = this.#conversation.state.activeTurnId !== undefined;
    await this.#conversation.leave();
    if (!this.#hasDetached || !isActive) return;
    this.#terminal.note(`${this.#link.outlives ? "The turn goes on" : "The turn goes on when Forge is next started here"}: ${this.#attach}`);
  }

  async #untilIdle(): Promise<void> {
    const { state } = this.#conversation;
    // A turn that is to stop needs no answers any more.
    const open = (): OpenApproval | undefined => (this.#interrupts === 0 ? state.approval : undefined);
    while (state.activeTurnId !== undefined && !this.#hasDetached) {
      const approval = open();
      if (approval !== undefined) await this.#askApproval(approval);
      else await this.#listening(() => this.#conversation.until(({ activeTurnId }) => activeTurnId === undefined || open() !== undefined));
      if (this.#question !== undefined) await this.#answered();
    }
    if (this.#question !== undefined) {
      this.#question.abort();
      await this.#answered();
    }
  }

  /** What is typed meanwhile steers the turn, answers what the model asks, or is a command. */
  async #listening(wait: () => Promise<void>): Promise<void> {
    this.#listen();
    try {
      await wait();
    } finally {
      this.#lines?.close();
      this.#lines = undefined;
    }
  }

  #listen(): void {
    const onLine = (typed: string): void => {
      this.#view.startLine();
      if (typed.trim() === "") return;
      const line = parseChatLine(typed);
      const work = line.kind === "say" ? this.#interject(line.text) : this.#perform(line);
      work.catch((error: unknown) => this.#terminal.note(error instanceof Error ? error.message : String(error)));
    };
    this.#lines = new TurnLines(onLine, () => this.detach());
  }

  async #interject(text: string): Promise<void> {
    if (await this.#conversation.interject(text)) return;
    this.#write(`${this.#terminal.style.dim("The turn took this no more; say it again.")}\n`);
  }

  /** A command that does not fit now says so, and the conversation goes on. */
  async #perform(line: Exclude<ChatLine, { readonly kind: "say" }>): Promise<void> {
    const { style } = this.#terminal;
    if (line.kind === "wrong") return this.#write(`${style.dim(line.why)}\n`);
    try {
      const { checkBypass, link, turns } = this.#options;
      const context = { link, conversation: this.#conversation, turns, style, columns: this.#terminal.columns, checkBypass };
      const { told, switchTo, typed, leaves } = await performCommand(context, line);
      // What is a document already has lines of its own.
      const lines = line.kind === "review" ? told : told.flatMap((each) => wrapWords(each, this.#terminal.columns() - 1, "    "));
      this.#write(lines.map((each) => `${each}\n`).join(""));
      this.#typedNext = typed ?? "";
      if (switchTo !== undefined || leaves === true) this.#next = { sessionId: switchTo };
      if (leaves === true && this.#conversation.state.activeTurnId !== undefined) this.detach();
    } catch (error) {
      if (!(error instanceof ForgeError) || isFatal(error.code)) throw error;
      this.#write(
        errorLines(error.detail, style)
          .map((each) => `${each}\n`)
          .join(""),
      );
    }
  }

  async #askApproval(approval: OpenApproval): Promise<void> {
    const { style, columns } = this.#terminal;
    const watch = new AbortController();
    this.#prompt = watch;
    void this.#conversation
      .until((state) => !state.isOpen(approval.approvalId), watch.signal)
      .then(
        () => watch.abort(),
        () => watch.abort(),
      );
    const ended: { read?: ReadLine } = {};
    try {
      const answer = await this.#typed(() =>
        askApproval({
          approval,
          style,
          columns,
          print: this.#terminal.print,
          edit: (text, name) => editText(text, name, this.#environment),
          readDiff: (sha256) => readArtifactText(this.#link, sha256),
          ask: async (prompt, text) => {
            const read = await readLine({ typed: this.#typedAhead, isAnswer: true, prompt, history: [], text, signal: watch.signal });
            if (read.kind === "line") return read.text;
            ended.read = read;
            return undefined;
          },
        }),
      );
      if (answer !== undefined && !watch.signal.aborted) await this.#conversation.answer(approval, answer);
    } catch (error) {
      if (!(error instanceof ForgeError && error.code === ErrorCode.VALIDATION)) throw error;
      this.#write(
        errorLines(error.detail, style)
          .map((each) => `${each}\n`)
          .join(""),
      );
    } finally {
      watch.abort();
      this.#prompt = undefined;
    }
    if (ended.read?.kind === "end") this.detach();
    else if (ended.read?.kind === "interrupt") this.interrupt();
  }

  async #readPrompt(text: string): Promise<ReadLine> {
    const prompt = new AbortController();
    this.#prompt = prompt;
    const read = await this.#typed(() =>
      readLine({
        typed: this.#typedAhead,
        isAnswer: false,
        prompt: `${this.#terminal.style.cyan("›")} `,
        history: this.#history.lines,
        text,
        signal: prompt.signal,
        complete: this.#complete,
      }),
    );
    this.#prompt = undefined;
    return read;
  }

  async #cancel(): Promise<void> {
    if (this.#conversation.state.activeTurnId === undefined) return;
    this.#clearEcho();
    this.#write(`${this.#terminal.style.yellow("■ cancelling; Ctrl-C again asks what to do")}\n`);
    await this.#conversation.cancel();
  }

  /** Brings the cursor to the start of a line, where the terminal has just shown ^C. */
  #clearEcho(): void {
    this.#write(this.#view.isAtLineStart ? "\r\u001B[K" : "\n");
    this.#view.startLine();
  }

  #answered(): Promise<void> {
    return this.#answer ?? Promise.resolve();
  }

  #answer: Promise<void> | undefined;

  async #ask(): Promise<void> {
    if (this.#conversation.state.activeTurnId === undefined) return this.detach();
    const wasListening = this.#lines !== undefined;
    this.#lines?.close();
    this.#lines = undefined;
    this.#clearEcho();
    const question = new AbortController();
    this.#question = question;
    void this.#conversation
      .until(({ activeTurnId }) => activeTurnId === undefined, question.signal)
      .then(
        () => question.abort(),
        () => question.abort(),
      );
    const asked = this.#typed(() => askAboutInterrupt({ what: "turn", outlives: this.#link.outlives, signal: question.signal }));
    this.#answer = asked.then(() => undefined);
    const answer = await asked;
    this.#question = undefined;
    question.abort();
    this.#interrupts = 1;
    if (wasListening && this.#conversation.state.activeTurnId !== undefined && answer !== "detach") this.#listen();
    if (answer === "detach") this.detach();
    else if (answer === "cancel") await this.#conversation.cancel();
  }

  /** Asks a person for something and shows afterwards what came meanwhile. */
  async #typed<T>(ask: () => Promise<T>): Promise<T> {
    this.#isAsking = true;
    try {
      return await ask();
    } finally {
      this.#isAsking = false;
      this.#terminal.out(this.#held);
      this.#held = "";
    }
  }

  #show(event: Event, isOwn: boolean): void {
    // The person's own line stands on the screen already.
    if (isOwn && (event.kind === "message.added" || event.kind === "turn.steered")) return this.#view.startLine();
    this.#write(this.#view.apply(event));
  }

  #write(text: string): void {
    if (text === "") return;
    if (!this.#isAsking) return this.#terminal.out(text);
    this.#held += text;
    if (this.#conversation.state.approval === undefined) this.#prompt?.abort();
  }
}

/** What ends the conversation, and is not just a command that does not fit. */
function isFatal(code: ErrorCode): boolean {
  return code === ErrorCode.UNAUTHENTICATED || code === ErrorCode.STORAGE_ERROR || code === ErrorCode.INTERNAL;
}

import { argumentsFor } from "./arguments.ts";
import { type DemoCall, type DemoConversation, type DemoTool, toolNamed } from "./conversation.ts";
import type { DemoStep } from "./script.ts";
import { chooseFile, contentOf, linesAdded, NOTES_PATH, notesCreated, patchedPaths, pathOf } from "./tour-change.ts";

/** Words that ask for a change. */
const CHANGE = /\b(?:tour|change|fix|add|edit|modify|update|improve|implement|refactor|rename|create|patch)\b/iu;

/** Attempts at the change, where the file was changed in between or the patch did not fit. */
const PATCHES_MAX = 2;

/** Lines of a file that the tour looks at. */
const LINES_MAX = 200;

const QUOTE_CHARACTERS_MAX = 300;

const PLAN = ["Look around", "Read the file", "Make a small change", "Check it"] as const;

type PlanStatus = "pending" | "in_progress" | "completed";

/** Whether the demo model is asked to change something, and has what it takes. */
export function isTour(conversation: DemoConversation): boolean {
  return CHANGE.test(conversation.request.text) && toolNamed(conversation, "tools.patch") !== undefined;
}

function call(tool: DemoTool, input: object | string, why: string): DemoStep[] {
  return [
    { kind: "text", text: why },
    { kind: "call", tool: tool.wireName, input: typeof input === "string" ? input : JSON.stringify(input) },
  ];
}

function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > QUOTE_CHARACTERS_MAX ? `${line.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}...` : line;
}

function said(call: DemoCall | undefined): string {
  return call?.result ? quote(call.result.output) : "it has no result";
}

const isDone = (call: DemoCall | undefined): boolean => call?.result?.isError === false;
const isDenied = (call: DemoCall | undefined): boolean => call?.result?.isError === true && /\bdenied\b/i.test(call.result.output);
/** What failed did nothing; what was cancelled or is unknown must not be tried again. */
const isFailed = (call: DemoCall | undefined): boolean => call?.result?.isError === true && call.result.output.startsWith("The call failed");
const isStale = (call: DemoCall | undefined): boolean => isFailed(call) && /PREVIEW_STALE/.test(call?.result?.output ?? "");

/** One tour: each answer makes the next step, from what the steps before came to. */
class Tour {
  readonly #conversation: DemoConversation;
  readonly #calls: readonly DemoCall[];

  constructor(conversation: DemoConversation) {
    this.#conversation = conversation;
    this.#calls = conversation.request.calls;
  }

  next(): DemoStep[] {
    return this.#plan() ?? this.#look() ?? this.#read() ?? this.#change() ?? this.#test() ?? this.#finishPlan() ?? this.#answer();
  }

  #tool(name: string): DemoTool | undefined {
    return toolNamed(this.#conversation, name);
  }

  #done(name: string): readonly DemoCall[] {
    return this.#calls.filter(({ tool }) => tool === name);
  }

  #patch(): DemoCall | undefined {
    return this.#done("tools.patch").at(-1);
  }

  #planCall(statuses: readonly PlanStatus[], why: string): DemoStep[] | undefined {
    const tool = this.#tool("tools.update_plan");
    const plan = PLAN.map((step, index) => ({ step, status: statuses[index] ?? "pending" }));
    return tool && call(tool, { plan }, why);
  }

  #plan(): DemoStep[] | undefined {
    if (this.#done("tools.update_plan").length > 0) return undefined;
    return this.#planCall(
      ["in_progress"],
      "I am the demo model and work by rules, so this is a tour with a small, real change. First I say what I am going to do.",
    );
  }

  #look(): DemoStep[] | undefined {
    const glob = this.#tool("tools.glob");
    const search = this.#tool("tools.search");
    if (this.#done("tools.glob").length > 0 || this.#done("tools.search").length > 0) return undefined;
    if (glob) return call(glob, { pattern: "**/*.md" }, "I look which texts there are.");
    return search && call(search, argumentsFor(search, "README"), "I look which texts there are.");
  }

  /** The file to change; undefined: none is there, or none can be read. */
  #path(): string | undefined {
    const looked = this.#done("tools.glob")[0] ?? this.#done("tools.search")[0];
    return isDone(looked) ? chooseFile(looked?.result?.output ?? "") : undefined;
  }

  #read(): DemoStep[] | undefined {
    const tool = this.#tool("tools.read_file");
    const path = this.#path();
    const readAgain = isStale(this.#patch()) && this.#done("tools.read_file").length < PATCHES_MAX;
    if (!tool || path === undefined || (this.#done("tools.read_file").length > 0 && !readAgain)) return undefined;
    const why = readAgain ? `${path} was changed meanwhile, so I read it again.` : `I read ${path}.`;
    return call(tool, { path, start_line: 1, end_line: LINES_MAX }, why);
  }

  #change(): DemoStep[] | undefined {
    const tool = this.#tool("tools.patch");
    const attempts = this.#done("tools.patch");
    if (!tool || (attempts.length > 0 && !isFailed(attempts.at(-1))) || attempts.length >= PATCHES_MAX) return undefined;
    const { text } = this.#conversation.request;
    const read = this.#done("tools.read_file").at(-1);
    const content = contentOf(read);
    const path = read && pathOf(read);
    const mayEdit = attempts.length === 0 || isStale(attempts.at(-1));
    const edits = mayEdit && path !== undefined && content !== undefined ? linesAdded(path, content, text) : [];
    const lines = edits.length > 1 ? "two lines" : "one line";
    if (edits.length > 0) return call(tool, { edits }, `I add ${lines} to ${path}. You see the difference before you decide.`);
    const why = attempts.length > 0 ? "That did not fit, so" : "There is no text that fits, so";
    return call(tool, { patch: notesCreated(text) }, `${why} I make ${NOTES_PATH}.`);
  }

  #test(): DemoStep[] | undefined {
    const tool = this.#tool("tools.test");
    if (!tool || !isDone(this.#patch()) || this.#done("tools.test").length > 0) return undefined;
    const { profile } = tool.inputSchema.properties ?? {};
    const known = typeof profile === "object" ? (profile.enum?.[0] ?? profile.const) : undefined;
    return typeof known === "string" ? call(tool, { profile: known }, `I run the tests of profile ${known}.`) : undefined;
  }

  #finishPlan(): DemoStep[] | undefined {
    const plans = this.#done("tools.update_plan");
    if (plans.length !== 1) return undefined;
    const isMade = isDone(this.#patch());
    const changed: PlanStatus = isMade ? "completed" : "pending";
    return this.#planCall(["completed", "completed", changed, changed], isMade ? "All steps are done." : "The change was not made.");
  }

  #answer(): DemoStep[] {
    const patch = this.#patch();
    const test = this.#done("tools.test").at(-1);
    const tested = test ? ` The tests ${isDone(test) ? "ran" : "did not run"}: ${said(test)}` : "";
    return [{ kind: "text", text: `${this.#outcome(patch)}${tested}` }];
  }

  #outcome(patch: DemoCall | undefined): string {
    if (isDone(patch)) {
      const paths = patchedPaths(patch as DemoCall).join(", ");
      return `I changed ${paths}. "review" lets me look at it again, /undo takes it back, and every step is an event that you can read.`;
    }
    if (isDenied(patch)) return `You decide: the change was denied, and nothing was changed. I was told: ${said(patch)}`;
    return `The change was not made: ${said(patch)}`;
  }
}

/** The next step of the tour. */
export function tour(conversation: DemoConversation): DemoStep[] {
  return new Tour(conversation).next();
}

/** Looks again at what was changed in this conversation. */
export function review(conversation: DemoConversation): DemoStep[] {
  const changes = conversation.calls.filter((each) => each.tool === "tools.patch" && isDone(each));
  const paths = [...new Set(changes.flatMap(patchedPaths))];
  const [path] = paths;
  if (path === undefined) return [{ kind: "text", text: "Nothing was changed in this session so far, so there is nothing to review." }];
  const tool = toolNamed(conversation, "tools.read_file");
  const read = conversation.request.calls.find((each) => each.tool === "tools.read_file");
  if (tool && !read) return call(tool, { path, start_line: 1, end_line: LINES_MAX }, `I look at ${path} again.`);
  const content = contentOf(read);
  const found = content === undefined ? `I could not read ${path}: ${said(read)}` : describeFound(path, content);
  return [{ kind: "text", text: `Changed in this session: ${paths.join(", ")}. ${found}` }];
}

function describeFound(path: string, content: string): string {
  return content.includes("Added on a tour of Forge")
    ? `The line stands in ${path}, and says who added it. It breaks nothing that I know of; I know little.`
    : `The line that I added is no longer in ${path}: it was taken back, or somebody changed it.`;
}

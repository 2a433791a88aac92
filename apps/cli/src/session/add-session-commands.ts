import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { collectLabel, oneOf, wholeNumber } from "../arguments/parsers.ts";

type AddCommand = (usage: string, description: string, action: Action, parent: Command) => Command;

/** `forge session`: the commands to a session that is there. */
export function addSessionCommands(program: Command, add: AddCommand): void {
  const session = program.command("session").description("steer, pause, fork or compact a session; see its own help").exitOverride();
  const seq = (what: string): Option => new Option("--seq <seq>", what).argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER));

  add(
    "steer <id> <text>",
    "tell the active turn more",
    async (ctx, [id, text], options) => {
      const { steerCommand } = await import("./session-commands.ts");
      return steerCommand(ctx, id as string, text as string, options);
    },
    session,
  );

  add(
    "pause <id>",
    "hold the active turn before its next dispatch; what runs, finishes",
    async (ctx, [id], options) => {
      const { pauseCommand } = await import("./session-commands.ts");
      return pauseCommand(ctx, id as string, options);
    },
    session,
  );

  add(
    "continue <id>",
    "let a paused turn go on",
    async (ctx, [id], options) => {
      const { continueCommand } = await import("./session-commands.ts");
      return continueCommand(ctx, id as string, options);
    },
    session,
  );

  add(
    "answer <id> <text>",
    "answer what the model asks",
    async (ctx, [id, text], options) => {
      const { answerCommand } = await import("./session-commands.ts");
      return answerCommand(ctx, id as string, text as string, options);
    },
    session,
  ).option("--input <id>", "the question, where more than one is open");

  add(
    "policy <id>",
    "replace the tool policy, from the next call on",
    async (ctx, [id], options) => {
      const { policyCommand } = await import("./session-commands.ts");
      return policyCommand(ctx, id as string, options);
    },
    session,
  )
    .option("--default <decision>", "where no rule matches: allow, ask or deny", oneOf(["ALLOW", "ASK", "DENY"]))
    .addOption(
      new Option("--rule <tool=decision>", "a tool's name, or a prefix and *; may be repeated, the first that matches decides").argParser(collectLabel),
    );

  add(
    "compact <id> <summary>",
    "let a summary stand for the conversation; the events stay",
    async (ctx, [id, summary], options) => {
      const { compactCommand } = await import("./session-commands.ts");
      return compactCommand(ctx, id as string, summary as string, options);
    },
    session,
  ).addOption(seq("up to this one (default: all of it)"));

  add(
    "fork <id>",
    "make a session with this one's history, and print its id",
    async (ctx, [id], options) => {
      const { forkCommand } = await import("./session-commands.ts");
      return forkCommand(ctx, id as string, options);
    },
    session,
  )
    .addOption(seq("up to this one (default: all of it)"))
    .option("--title <text>", "of the fork")
    .addOption(new Option("--label <key=value>", "a label of the fork; may be repeated").argParser(collectLabel));
}

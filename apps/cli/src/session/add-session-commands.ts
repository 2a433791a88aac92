import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { MODE_NAMES } from "../agent/agent-options.ts";
import { commandOptions, turnOption } from "../arguments/command-options.ts";
import { collect, collectLabel, oneOf, wholeNumber } from "../arguments/parsers.ts";

type AddCommand = (usage: string, description: string, action: Action, parent: Command) => Command;

/** `forge session`: the commands to a session. */
export function addSessionCommands(program: Command, addCommand: AddCommand, addLocal: AddCommand): void {
  const session = program
    .command("session")
    .description("create, steer, pause, fork, undo, rewind, compact, export or close a session; see its own help")
    .exitOverride();
  const add: AddCommand = (usage, description, action, parent) => {
    const made = addCommand(usage, description, action, parent);
    for (const option of commandOptions()) made.addOption(option);
    return made;
  };
  const policyOptions = (made: Command): Command =>
    made
      .option("--default <decision>", "where no rule matches: allow, ask or deny", oneOf(["ALLOW", "ASK", "DENY"]))
      .addOption(
        new Option("--rule <tool=decision>", "a tool's name, or a prefix and *; may be repeated, the first that matches decides").argParser(collectLabel),
      )
      .addOption(new Option("--mode <mode>", "plan: only what reads; act: the rules and people decide; bypass: nothing is asked").argParser(oneOf(MODE_NAMES)));
  const seq = (what: string): Option => new Option("--seq <seq>", what).argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER));

  policyOptions(
    add(
      "create",
      "make a session, and print its id",
      async (ctx, _, options) => {
        const { createCommand } = await import("./create-command.ts");
        return createCommand(ctx, options);
      },
      session,
    ),
  )
    .requiredOption("--model <provider/model>", "what answers")
    .option("--system <text>", "the system prompt")
    .option("--tool <name>", "a tool that it may use; may be repeated", collect)
    .option("--title <text>", "to find it by")
    .addOption(new Option("--label <key=value>", "a label to list by; may be repeated").argParser(collectLabel))
    .option("--queue <queue>", "whose workers serve it (default: the project's own)");

  add(
    "start <id> <text>",
    "start a turn, and print its id; `forge chat` and `forge events` show what comes of it",
    async (ctx, [id, text], options) => {
      const { startCommand } = await import("./session-commands.ts");
      return startCommand(ctx, id as string, text as string, options);
    },
    session,
  );

  add(
    "steer <id> <text>",
    "tell the active turn more",
    async (ctx, [id, text], options) => {
      const { steerCommand } = await import("./session-commands.ts");
      return steerCommand(ctx, id as string, text as string, options);
    },
    session,
  ).addOption(turnOption());

  add(
    "pause <id>",
    "hold the active turn before its next dispatch; what runs, finishes",
    async (ctx, [id], options) => {
      const { pauseCommand } = await import("./session-commands.ts");
      return pauseCommand(ctx, id as string, options);
    },
    session,
  ).addOption(turnOption());

  add(
    "continue <id>",
    "let a paused turn go on",
    async (ctx, [id], options) => {
      const { continueCommand } = await import("./session-commands.ts");
      return continueCommand(ctx, id as string, options);
    },
    session,
  ).addOption(turnOption());

  add(
    "answer <id> <text>",
    "answer what the model asks",
    async (ctx, [id, text], options) => {
      const { answerCommand } = await import("./session-commands.ts");
      return answerCommand(ctx, id as string, text as string, options);
    },
    session,
  )
    .addOption(turnOption())
    .option("--input <id>", "the question, where more than one is open");

  policyOptions(
    add(
      "policy <id>",
      "replace the tool policy, from the next call on",
      async (ctx, [id], options) => {
        const { policyCommand } = await import("./session-commands.ts");
        return policyCommand(ctx, id as string, options);
      },
      session,
    ),
  ).option("--revoke-grants", "what people allowed for the turn or the session holds no more");

  add(
    "compact <id> [summary]",
    "let a summary stand for the conversation, or let the agent's model write one; the events stay",
    async (ctx, [id, summary], options) => {
      const { compactCommand } = await import("./session-commands.ts");
      return compactCommand(ctx, id as string, summary, options);
    },
    session,
  )
    .addOption(seq("up to this one (default: all of it)"))
    .option("--instructions <text>", "for the model that writes it");

  add(
    "undo <id> [change...]",
    "take back changes of files: those that are named, else all of the last turn that made any",
    async (ctx, [id, ...changes], options) => {
      const { undoCommand } = await import("./undo-commands.ts");
      return undoCommand(ctx, id as string, changes.flat() as string[], options);
    },
    session,
  ).addOption(turnOption());

  add(
    "rewind <id>",
    "let the conversation, and the files, stand as they did before a message",
    async (ctx, [id], options) => {
      const { rewindCommand } = await import("./undo-commands.ts");
      return rewindCommand(ctx, id as string, options);
    },
    session,
  )
    .addOption(seq("the last event that stays; must not lie within a turn"))
    .addOption(new Option("--message <number>", "to before this message of yours, 1 for the first").argParser(wholeNumber(1, 1_000_000)).conflicts("seq"))
    .option("--keep-files", "leave the files as they are");

  addCommand(
    "changes <id>",
    "list the changes of files that a session's tools made, and which still stand",
    async (ctx, [id], options) => {
      const { changesCommand } = await import("../changes/changes-command.ts");
      return changesCommand(ctx, id as string, options);
    },
    session,
  );

  addCommand(
    "export <id> <target>",
    "write a session with its artifacts and a chain of hashes to a directory, or to a .tar file",
    async (ctx, [id, target], options) => {
      const { exportSessionCommand } = await import("../export/export-session-command.ts");
      return exportSessionCommand(ctx, id as string, target as string, options);
    },
    session,
  );

  addLocal(
    "verify <file>",
    "find what has been changed in an exported session, and in the workspace since",
    async (ctx, [file], options) => {
      const { verifySessionCommand } = await import("../export/verify-session-command.ts");
      return verifySessionCommand(ctx, file as string, options);
    },
    session,
  )
    .option("--head <hash>", "what the chain must end with, as the export told")
    .option("--workspace <directory>", "compare this directory with what the session left there");

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
    .option("--model <provider/model>", "what answers in the fork (default: the same)")
    .addOption(new Option("--label <key=value>", "a label of the fork; may be repeated").argParser(collectLabel));

  add(
    "close <id>",
    "let no more turns be started; the events stay",
    async (ctx, [id], options) => {
      const { closeCommand } = await import("./session-commands.ts");
      return closeCommand(ctx, id as string, options);
    },
    session,
  );

  add(
    "abandon <id> <reason>",
    "end a turn of which nobody can say any more whether it has stopped",
    async (ctx, [id, reason], options) => {
      const { abandonCommand } = await import("./session-commands.ts");
      return abandonCommand(ctx, id as string, reason as string, options);
    },
    session,
  ).addOption(turnOption());
}

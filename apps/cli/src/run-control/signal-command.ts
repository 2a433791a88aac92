import path from "node:path";
import { ForgeError } from "@forge/protocol";
import type { Value } from "@forge/protocol/common";
import { type SignalRunResponse, SignalRunResponseSchema } from "@forge/protocol/workflow";
import type { CommandOptions } from "../arguments/command-options.ts";
import { headerOf } from "../arguments/header-of.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { oneLine } from "../output/text.ts";
import { storeValue } from "../server/artifact-value.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { readPayload } from "./read-payload.ts";

export interface SignalOptions extends ServerOptions, CommandOptions {
  /** JSON, or @ and a file with JSON; absent: null. */
  readonly data?: string;
}

/** `forge signal`: hands a signal to a run. */
export async function signalCommand(context: Context, runId: string, name: string, options: SignalOptions): Promise<number> {
  const { terminal, directory } = context;
  checkId(runId);
  const json = options.data === undefined ? undefined : await readPayload(options.data, (file) => path.resolve(directory, file));
  const { link } = await openExisting(context, options, { reads: false, code: "all" });
  try {
    const payload = json === undefined ? undefined : await storeValue(link, json);
    const answer = await signalRun(link, { runId, name, payload, options });
    terminal.print(options.json === true ? messageLine(SignalRunResponseSchema, answer) : `Run ${runId} has the signal ${oneLine(name)}.`);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

export interface SignalRun {
  readonly runId: string;
  readonly name: string;
  readonly payload: Value | undefined;
  readonly options: CommandOptions;
}

/** Hands it over. Errors: validation of the name; those of SignalRun. */
export async function signalRun(link: Pick<ProjectLink, "call">, { runId, name, payload, options }: SignalRun): Promise<SignalRunResponse> {
  if (name.trim() === "") throw ForgeError.validation("name", "a signal has a name");
  const header = headerOf(options);
  return await link.call((client) => client.workflow.signalRun({ header, runId, name, payload }));
}

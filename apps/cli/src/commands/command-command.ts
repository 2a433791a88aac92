import { ForgeError } from "@forge/protocol";
import { StreamKind } from "@forge/protocol/common";
import { GetCommandResultResponseSchema } from "@forge/protocol/event";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";

export interface CommandResultOptions extends ServerOptions {
  /** The run or session. */
  readonly of?: string;
  readonly created?: "SESSION" | "RUN";
}

/** `forge command`: what became of a command whose answer was lost. Errors: not_found where it had no effect. */
export async function commandCommand(context: Context, commandId: string, options: CommandResultOptions): Promise<number> {
  const { of, created } = options;
  if (of === undefined && created === undefined)
    throw ForgeError.validation("of", "name the run or session that it was for with --of, or what it was to create with --created");
  if (of !== undefined) checkId(of);
  const { link } = await openExisting(context, options, { reads: true });
  try {
    const request =
      of === undefined
        ? { commandId, createKind: StreamKind[created as "SESSION" | "RUN"] }
        : { commandId, stream: { kind: (await findStream(link, of)).kind, id: of } };
    const answer = await link.call((client) => client.event.getCommandResult(request));
    if (options.json === true) context.terminal.print(messageLine(GetCommandResultResponseSchema, answer));
    else context.terminal.print(`It had its effect: event ${answer.seq} of ${answer.stream?.id ?? ""}`);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

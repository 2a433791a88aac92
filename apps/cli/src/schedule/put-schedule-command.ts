import path from "node:path";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Decision } from "@forge/protocol/tool";
import { OverlapPolicy, type Schedule, ScheduleSchema } from "@forge/protocol/workflow";
import { definitionReferences, openProject, overwritePolicy, parseInputs, resolveWorkflow, toolPolicy } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { explainRefusal } from "../run/explain-refusal.ts";
import { storeValue } from "../server/artifact-value.ts";
import { checkDemoModels } from "../server/explain-model.ts";
import { hintFor } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import { remoteHint } from "../server/remote.ts";
import { momentIn } from "./schedule-lines.ts";

export interface PutScheduleOptions extends ServerOptions {
  readonly cron: readonly string[];
  readonly timezone?: string;
  /** An OverlapPolicy's name. */
  readonly overlap?: Exclude<keyof typeof OverlapPolicy, number>;
  /** Milliseconds. */
  readonly catchUp?: number;
  readonly jitter?: number;
  /** Milliseconds since the epoch. */
  readonly start?: number;
  readonly end?: number;
  readonly input?: readonly string[];
  readonly model?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly approve?: boolean;
  readonly deny?: boolean;
  readonly note?: string;
  readonly paused?: boolean;
}

/** `forge schedule put`: the workflow is kept as it is now, so that its files may change later. */
export async function putScheduleCommand(context: Context, scheduleId: string, reference: string, options: PutScheduleOptions): Promise<number> {
  const { terminal, directory } = context;
  const named = options.project === undefined ? undefined : await openProject(path.resolve(directory, options.project));
  const resolved = await resolveWorkflow(reference, { directory, project: named });
  const { definition, project, warnings } = resolved;
  const inputs = JSON.stringify(await parseInputs(options.input ?? [], directory));
  const link = await openLink(context, { ...options, foreground: false }, { root: project.root, reads: false, code: "all" });
  try {
    await checkDemoModels(options.model === undefined ? definitionReferences(definition).models : [options.model], link, context.environment);
    const value = await storeValue(link, inputs);
    const answer = options.approve === true ? Decision.ALLOW : options.deny === true ? Decision.DENY : undefined;
    const request = {
      scheduleId,
      spec: {
        cron: [...options.cron],
        timeZone: options.timezone ?? "",
        overlap: OverlapPolicy[options.overlap ?? "SKIP"],
        catchUpWindow: options.catchUp === undefined ? undefined : durationFromMs(options.catchUp),
        jitter: options.jitter === undefined ? undefined : durationFromMs(options.jitter),
        startAt: options.start === undefined ? undefined : timestampFromMs(options.start),
        endAt: options.end === undefined ? undefined : timestampFromMs(options.end),
        run: {
          definition,
          inputs: value,
          labels: { ...options.label },
          queue: link.queue,
          modelOverride: options.model ?? "",
          policy: { ...toolPolicy(project.config), answer },
          overwritePolicy: overwritePolicy(project.config),
        },
      },
      paused: options.paused,
      note: options.note,
    };
    const { schedule } = await link
      .call((client) => client.schedule.putSchedule(request))
      .catch(async (error: unknown) => {
        throw await explainRefusal(error, resolved);
      });
    for (const warning of [...project.warnings, ...warnings]) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
    terminal.print(options.json === true ? messageLine(ScheduleSchema, schedule as Schedule) : describe(schedule as Schedule));
    if (options.json !== true && link.reach.kind !== "remote") {
      const hint = `${await hintFor(project.root, directory)}${remoteHint(options)}`;
      terminal.note(`The project's server starts its runs and stays for them; after a restart of the machine: npx forge up --detach${hint}`);
    }
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

function describe({ scheduleId, spec, paused, nextAt }: Schedule): string {
  const { definition } = spec?.run ?? {};
  const when = paused
    ? "is paused"
    : nextAt === undefined
      ? "has no time to come"
      : `starts next at ${momentIn(nextAt, spec?.timeZone ?? "")} ${spec?.timeZone}`;
  return `Schedule ${scheduleId} of ${definition?.id}@${definition?.version} ${when}.`;
}

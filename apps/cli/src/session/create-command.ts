import { CreateSessionResponseSchema } from "@forge/protocol/session";
import { projectDefaults } from "../agent/project-defaults.ts";
import { headerOf } from "../arguments/header-of.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { locateProject } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import { remoteOf } from "../server/remote.ts";
import { type SessionOptions, tell } from "./in-session.ts";
import { type PolicyOptions, policyOf } from "./policy.ts";

export interface CreateOptions extends SessionOptions, PolicyOptions {
  readonly model: string;
  readonly system?: string;
  readonly tool?: readonly string[];
  readonly title?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly queue?: string;
}

/** `forge session create`: makes a session, and leaves it. */
export async function createCommand(context: Context, options: CreateOptions): Promise<number> {
  const { root } = await locateProject(context, options, { hasData: false });
  const isOwn = remoteOf(context, options) === undefined;
  const hasPolicy = options.default !== undefined || options.rule !== undefined || options.mode !== undefined;
  // What a project allows is said where its sessions are made; a control plane elsewhere has defaults of its own.
  const policy = hasPolicy ? policyOf(options) : isOwn ? (await projectDefaults(context.environment, root)).policy : undefined;
  const link = await openLink(context, options, { root, reads: false });
  try {
    const request = {
      header: headerOf(options),
      agent: { model: options.model, system: options.system ?? "", tools: [...(options.tool ?? [])] },
      policy,
      labels: { ...options.label },
      queue: options.queue ?? link.queue,
      title: options.title ?? "",
    };
    const answer = await link.call((client) => client.session.createSession(request));
    tell(context, options, { schema: CreateSessionResponseSchema, answer, said: answer.sessionId });
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

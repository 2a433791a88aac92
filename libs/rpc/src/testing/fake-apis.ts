import { create, type Message } from "@bufbuild/protobuf";
import type { Call } from "@forge/protocol";
import { SERVICES, type ServedApis } from "../services.ts";

/** Functions that take the place of those that only answer. */
export type Overrides = { readonly [Name in keyof ServedApis]?: Partial<ServedApis[Name]> };

export interface ReceivedCall {
  /** For example "session.createSession". */
  readonly method: string;
  readonly request: Message;
  readonly call: Call;
}

/** Services without anything behind them: each call is kept, and answered with an empty message or an empty stream unless something is put in its place. */
export function fakeApis(overrides: Overrides = {}): { readonly apis: ServedApis; readonly received: readonly ReceivedCall[] } {
  const received: ReceivedCall[] = [];
  const apis: Record<string, Record<string, unknown>> = {};
  for (const { service, api } of SERVICES) {
    const functions: Record<string, unknown> = {};
    for (const { localName, methodKind, output } of service.methods) {
      const keep = (request: Message, call: Call): void => {
        received.push({ method: `${api}.${localName}`, request, call });
      };
      const replacement = (overrides[api] as Record<string, ((request: Message, call: Call) => unknown) | undefined> | undefined)?.[localName];
      functions[localName] = (request: Message, call: Call): unknown => {
        keep(request, call);
        if (replacement !== undefined) return replacement(request, call);
        return methodKind === "unary" ? Promise.resolve(create(output)) : nothing();
      };
    }
    apis[api] = functions;
  }
  return { apis: apis as unknown as ServedApis, received };
}

async function* nothing(): AsyncGenerator<never> {}

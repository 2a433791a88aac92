import { type DescMessage, type DescMethod, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { runCaptured } from "@forge/cli/captured";
import type { ForgeClient } from "@forge/client";
import { type CallOptions, ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import type { OpenClient } from "@forge/protocol/contract";
import { methodsOf } from "../typescript/services.ts";
import { fromPlainJson } from "./plain-json.ts";
import { Said } from "./said.ts";
import { type ToWords, WORDS } from "./words.ts";

/** Answers of which the command line prints the one part that they have. */
const PART: Readonly<Record<string, string>> = { GetSessionSnapshot: "session", GetRun: "run" };

/** A client that says everything by command lines. */
export function createCliClient({ url, token, namespace }: OpenClient, directory: string): ForgeClient {
  const environment = { FORGE_URL: url, FORGE_TOKEN: token, FORGE_NAMESPACE: namespace };
  const closed = new AbortController();
  const services: Record<string, Record<string, unknown>> = {};
  for (const [name, { property, method }] of methodsOf("cli")) {
    const toWords = WORDS.get(name);
    if (toWords === undefined) continue;
    services[property] ??= {};
    services[property][method.localName] = (request: Message, options: CallOptions) =>
      within(options, closed.signal, () => say(method, toWords, request, environment, directory));
  }
  return { ...services, close: async () => closed.abort() } as unknown as ForgeClient;
}

async function say(method: DescMethod, toWords: ToWords, request: Message, environment: NodeJS.ProcessEnv, directory: string): Promise<Message> {
  const said = new Said(toJson(method.input, request, { useProtoFieldName: true }) as JsonObject);
  const { command, options = [], texts = [] } = toWords(said);
  said.end();
  const { code, stdout, stderr } = await runCaptured([...command, ...options, "--json", "--", ...texts], { environment, directory });
  if (code !== 0) throw ForgeError.from(onlyLine(stderr, ForgeErrorSchema, "error"));
  return onlyLine(stdout, method.output, undefined, PART[method.name]);
}

/** Reads the one line that was written: a message, or what it holds under a name, or the one part of a message. */
function onlyLine<S extends DescMessage>(text: string, schema: S, under?: string, part?: string) {
  const json = JSON.parse(text.trim()) as JsonObject;
  if (under !== undefined) return fromPlainJson(schema, json[under] as JsonObject);
  return fromPlainJson(schema, part === undefined ? json : { [part]: json });
}

/** A person who waits no longer presses Ctrl-C, or has said `timeout`. */
async function within<T>({ signal, timeoutMs }: CallOptions, closed: AbortSignal, run: () => Promise<T>): Promise<T> {
  const deadline = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const signals = [signal, closed, deadline].filter((each) => each !== undefined);
  const stop = AbortSignal.any(signals);
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => {
    const isLate = deadline?.aborted === true;
    reject(new ForgeError(isLate ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.CANCELLED, "the command line was ended", { origin: "client" }));
  };
  if (stop.aborted) giveUp();
  stop.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([promise, run()]);
  } finally {
    stop.removeEventListener("abort", giveUp);
    promise.catch(() => undefined); // Nobody else hears of it when it comes last.
  }
}

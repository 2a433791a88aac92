import { createWebClient } from "@forge/client/web";
import { ForgeError } from "@forge/protocol";
import { type ErrorCode, StreamKind } from "@forge/protocol/common";

// What runs in a page of another origin than the server's: a client as such a page has it.

/** What came of the page's calls. */
export interface PageResult {
  readonly kinds: readonly string[];
  /** Of a call for a session that there is not: an error is read as an answer is. */
  readonly refusal: ErrorCode | undefined;
}

const NOBODY = "0190a000-0000-7000-8000-00000000dead";

function header(commandId: string) {
  return { version: { major: 1, minor: 0 }, commandId };
}

async function runTurn(url: string, token: string): Promise<PageResult> {
  const client = createWebClient({ url, token, namespace: "default" });
  const { sessionId } = await client.session.createSession({ header: header("create"), agent: { model: "demo/echo" } });
  await client.session.startTurn({ header: header("start"), sessionId, input: [{ kind: { case: "text", value: { text: "Hello." } } }] });
  const kinds: string[] = [];
  for await (const { kind } of client.event.subscribeEvents({ streams: [{ stream: { kind: StreamKind.SESSION, id: sessionId } }] })) {
    if (kind.case !== "event") continue;
    kinds.push(kind.value.kind);
    if (kind.value.kind === "turn.completed") break;
  }
  const refusal = await client.session.getSessionSnapshot({ sessionId: NOBODY }).then(
    () => undefined,
    (error: unknown) => (error instanceof ForgeError ? error.code : undefined),
  );
  await client.close();
  return { kinds, refusal };
}

Object.assign(globalThis, { runTurn });

import { once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { EventService, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { expect, test, vi } from "vitest";
import { Activity } from "./activity.ts";
import { createRoutes } from "./routes.ts";
import { StreamQuota } from "./stream-quota.ts";
import { fakeApis, type Overrides } from "./testing/index.ts";

function setup(overrides: Overrides = {}) {
  const activity = new Activity();
  const { apis } = fakeApis(overrides);
  const routes = createRoutes({
    apis,
    authenticate: async (token) => ({ id: token ?? "", role: "admin", namespaces: ["default"], queues: [] }),
    streams: new StreamQuota(1),
    activity,
    onBug: (error) => expect.fail(String(error)),
  });
  const transport = createRouterTransport(routes);
  return { apis, activity, routes, events: createClient(EventService, transport), sessions: createClient(SessionService, transport) };
}

test("a caller that has too many streams open is refused one more, until one ends; others and calls are not touched", async () => {
  const { events, sessions, activity } = setup({
    event: {
      subscribeEvents: async function* (_, { signal }) {
        yield create(SubscribeEventsResponseSchema);
        await once(signal, "abort");
      },
    },
  });
  const open = async (authorization: string) => {
    const stop = new AbortController();
    const stream = events.subscribeEvents({}, { headers: { authorization }, signal: stop.signal })[Symbol.asyncIterator]();
    await stream.next();
    const end = stream.next().catch((error: unknown) => error);
    return async () => {
      stop.abort();
      await end;
    };
  };
  const first = await open("a");
  await expect(open("a")).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await expect(open("a")).rejects.toSatisfy((error) => error.findDetails(ForgeErrorSchema)[0].reason === "STREAMS");
  await open("b");
  await sessions.listSessions({}, { headers: { authorization: "a" } });
  expect(activity.open).toBe(2);
  await first();
  await vi.waitFor(() => expect(activity.open).toBe(1));
  await open("a");
});

test("a call that was refused is no activity any more", async () => {
  const { activity, sessions } = setup();
  await expect(sessions.listSessions({}, { headers: { "forge-namespace": "strange" } })).rejects.toSatisfy(
    (error) => error.findDetails(ForgeErrorSchema)[0].code === ErrorCode.PERMISSION_DENIED,
  );
  expect(activity.open).toBe(0);
});

test("a service without one of its functions is not served at all", () => {
  const { apis } = fakeApis();
  const missing = { ...apis, session: { ...apis.session, startTurn: undefined } } as unknown as typeof apis;
  const routes = createRoutes({
    apis: missing,
    authenticate: () => Promise.reject(new Error("not called")),
    streams: new StreamQuota(1),
    activity: new Activity(),
    onBug: () => undefined,
  });
  expect(() => createRouterTransport(routes)).toThrow("no function for forge.session.v1.SessionService.StartTurn");
});

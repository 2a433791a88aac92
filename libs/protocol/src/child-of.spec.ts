import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { childOf } from "./child-of.ts";
import { StreamKind } from "./common.ts";
import { StepStartedSchema, ToolStartedSchema } from "./event.ts";

it("names the session or the run that an event's stream has work for it, and no other", () => {
  const step = (value: { sessionId?: string; childRunId?: string }) => childOf({ payload: { case: "stepStarted", value: create(StepStartedSchema, value) } });
  const tool = (childSessionId: string) => childOf({ payload: { case: "toolStarted", value: create(ToolStartedSchema, { childSessionId }) } });
  expect(step({ sessionId: "a" })).toStrictEqual({ kind: StreamKind.SESSION, id: "a" });
  expect(step({ childRunId: "b" })).toStrictEqual({ kind: StreamKind.RUN, id: "b" });
  expect(tool("c")).toStrictEqual({ kind: StreamKind.SESSION, id: "c" });
  expect([step({}), tool(""), childOf({ payload: { case: undefined } })]).toStrictEqual([undefined, undefined, undefined]);
});

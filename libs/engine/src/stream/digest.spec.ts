import { create } from "@bufbuild/protobuf";
import { CreateSessionRequestSchema } from "@forge/protocol/session";
import { StartRunRequestSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { requestDigest } from "./digest.ts";

const request = (header: object, labels: Record<string, string> = { a: "1", b: "2" }) =>
  create(CreateSessionRequestSchema, { header: { version: { major: 1, minor: 0 }, commandId: "c", ...header }, labels, title: "t" });

const digest = (message: ReturnType<typeof request>) => Buffer.from(requestDigest(CreateSessionRequestSchema, message)).toString("hex");

describe("requestDigest", () => {
  it("is the same for a retry: whatever seq it expects, whatever its trace ids, in whatever order its labels came", () => {
    const first = digest(request({}));
    expect(digest(request({ expectedSeq: 4n, correlationId: "x", causationId: "y" }))).toBe(first);
    expect(digest(request({}, { b: "2", a: "1" }))).toBe(first);
  });

  it("differs with the command id, a field, and a field that this version does not know", () => {
    const first = digest(request({}));
    expect(digest(request({ commandId: "d" }))).not.toBe(first);
    expect(digest(request({}, { a: "1", b: "3" }))).not.toBe(first);
    const newer = request({});
    newer.$unknown = [{ no: 999, wireType: 0, data: new Uint8Array([1]) }];
    expect(digest(newer)).not.toBe(first);
  });

  it("is the same in whatever order maps inside of messages came", () => {
    const run = (inputs: Record<string, { path: string }>) => {
      const steps = [
        { id: "a", inputs: Object.fromEntries(Object.entries(inputs).map(([name, { path }]) => [name, { kind: { case: "path" as const, value: path } }])) },
      ];
      return Buffer.from(requestDigest(StartRunRequestSchema, create(StartRunRequestSchema, { definition: { id: "w", steps } }))).toString("hex");
    };
    const first = run({ x: { path: "inputs.x" }, y: { path: "inputs.y" } });
    expect(run({ y: { path: "inputs.y" }, x: { path: "inputs.x" } })).toBe(first);
    expect(run({ x: { path: "inputs.y" }, y: { path: "inputs.x" } })).not.toBe(first);
  });

  it("has this value, which every language's client can check", () => {
    expect(digest(request({}))).toMatchInlineSnapshot(`"31018f692e60f9e04f1d3b3869df1fa96bed7e338453240ca1831c6b74ecf67e"`);
  });
});

import { ErrorCode } from "@forge/protocol/common";
import { HealthCheckResponse_ServingStatus as ServingStatus } from "@forge/protocol/grpc-health";
import { describe, expect, it } from "vitest";
import { Health } from "./health.ts";

const never = new AbortController().signal;

describe("health", () => {
  it("tells of the server as a whole, of each service, and knows no other", () => {
    const health = new Health(["a.Service"]);
    expect([health.check(""), health.check("a.Service")]).toEqual([ServingStatus.SERVING, ServingStatus.SERVING]);
    expect(health.list()).toEqual({ "": ServingStatus.SERVING, "a.Service": ServingStatus.SERVING });
    expect(() => health.check("b.Service")).toThrow(expect.objectContaining({ code: ErrorCode.NOT_FOUND }));
  });

  it("tells who watches what it knows, until he leaves", async () => {
    const health = new Health(["a.Service"]);
    const stop = new AbortController();
    const watches = ["", "a.Service", "b.Service"].map((service) => health.watch(service, stop.signal));
    const first = await Promise.all(watches.map((watch) => watch.next()));
    expect(first.map(({ value }) => value)).toEqual([ServingStatus.SERVING, ServingStatus.SERVING, ServingStatus.SERVICE_UNKNOWN]);
    const ends = watches.map((watch) => watch.next());
    stop.abort();
    expect((await Promise.all(ends)).map(({ done }) => done)).toEqual([true, true, true]);
  });

  it("lets only so many watch, and others after them", async () => {
    const health = new Health([]);
    const stop = new AbortController();
    const watches = Array.from({ length: 100 }, () => health.watch("", stop.signal));
    for (const watch of watches) await watch.next();
    await expect(health.watch("", never).next()).rejects.toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "WATCHERS" });
    const ends = watches.map((watch) => watch.next());
    stop.abort();
    expect(new Set((await Promise.all(ends)).map(({ done }) => done))).toEqual(new Set([true]));
    expect((await health.watch("", never).next()).value).toBe(ServingStatus.SERVING);
  });
});

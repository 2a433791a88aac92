import { describe, expect, it } from "vitest";
import { collectLabel, oneOf, parseDuration, parseLifetime, wholeNumber } from "./parsers.ts";

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["60s", 60_000],
    ["1.5m", 90_000],
    ["2h", 7_200_000],
    ["7", 7_000],
  ])("reads %s as %i ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(["", "-1s", "1 week", "1e3", "100000d", "NaN"])("refuses %j", (text) => expect(() => parseDuration(text)).toThrow("Write a duration"));
});

describe("parseLifetime", () => {
  it("reads what no timer would take, up to ten years", () => {
    expect(parseLifetime("30d")).toBe(30 * 86_400_000);
    for (const text of ["0d", "4000d", "soon"]) expect(() => parseLifetime(text)).toThrow("12h or 30d");
  });
});

describe("other parsers", () => {
  it("takes whole numbers within their bounds only", () => {
    const port = wholeNumber(0, 65_535);
    expect(port("0")).toBe(0);
    for (const text of ["65536", "-1", "1.5", "0x10", ""]) expect(() => port(text)).toThrow("0 to 65535");
  });

  it("collects labels and refuses one that comes twice", () => {
    expect(collectLabel("b=1=2", collectLabel("a="))).toEqual({ a: "", b: "1=2" });
    expect(() => collectLabel("a=2", { a: "1" })).toThrow("twice");
    expect(() => collectLabel("=x")).toThrow("key=value");
  });

  it("takes statuses as people write them", () => {
    const status = oneOf(["RUNNING", "COMPLETED_WITH_ERRORS"]);
    expect(status("completed-with-errors")).toBe("COMPLETED_WITH_ERRORS");
    expect(() => status("done")).toThrow("RUNNING, COMPLETED_WITH_ERRORS");
  });
});

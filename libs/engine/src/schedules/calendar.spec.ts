import { ErrorCode } from "@forge/protocol/common";
import { Cron } from "croner";
import { describe, expect, it, vi } from "vitest";
import { type CalendarOptions, createCalendar } from "./calendar.ts";

/** The first times after a moment, as ISO texts without their milliseconds. */
function times(cron: string | readonly string[], timeZone: string, after: string, count: number, more: Partial<CalendarOptions> = {}): string[] {
  const calendar = createCalendar({ cron: typeof cron === "string" ? [cron] : cron, timeZone, ...more });
  const found: string[] = [];
  let next = calendar.next(Date.parse(after));
  while (next !== undefined && found.length < count) {
    found.push(new Date(next).toISOString().replace(":00.000Z", "Z"));
    next = calendar.next(next);
  }
  return found;
}

describe("a time of day over a change of the clock", () => {
  it("that does not exist comes once, at the moment of the change", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 2)).toEqual(["2026-03-29T01:00Z", "2026-03-30T00:30Z"]);
    expect(times("30 2 * * *", "America/New_York", "2026-03-07T12:00Z", 2)).toEqual(["2026-03-08T07:00Z", "2026-03-09T06:30Z"]);
  });

  it("that exists twice comes once, the first time", () => {
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", 2)).toEqual(["2026-10-25T00:30Z", "2026-10-26T01:30Z"]);
    expect(times("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", 2)).toEqual(["2026-11-01T05:30Z", "2026-11-02T06:30Z"]);
    // Also for whoever asks between the two.
    expect(times("30 2 * * *", "Europe/Berlin", "2026-10-25T01:00Z", 1)).toEqual(["2026-10-26T01:30Z"]);
  });

  it.each(["Europe/Berlin", "America/New_York", "Africa/Cairo", "Australia/Lord_Howe", "America/Santiago"])(
    "comes once on every day of three years in %s",
    (timeZone) => {
      const dayOf = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
      for (const hour of [0, 1, 2, 3]) {
        const found = times(`15 ${hour} * * *`, timeZone, "2026-01-01T12:00Z", 3 * 365);
        const days = found.map((time) => dayOf.format(new Date(time)));
        expect(new Set(days).size).toBe(days.length);
        const first = Date.parse(days[0] as string);
        expect(Date.parse(days.at(-1) as string) - first).toBe((days.length - 1) * 86_400_000);
      }
    },
  );

  it.each(["Europe/Berlin", "America/New_York"])("goes by elapsed time in %s where the expression has a step or a wildcard", (timeZone) => {
    for (const from of ["2026-03-08T00:00Z", "2026-03-29T00:00Z", "2026-10-25T00:00Z", "2026-11-01T00:00Z"]) {
      const found = times("*/30 * * * *", timeZone, from, 48);
      expect(found.map((time) => (Date.parse(time) - Date.parse(from)) / 60_000)).toEqual(found.map((_, index) => (index + 1) * 30));
    }
  });
});

describe("a calendar", () => {
  it("knows leap days, last days, names and nicknames", () => {
    expect(times("0 0 29 2 *", "UTC", "2026-01-01T00:00Z", 2)).toEqual(["2028-02-29T00:00Z", "2032-02-29T00:00Z"]);
    expect(times("0 0 L * *", "UTC", "2028-02-01T00:00Z", 2)).toEqual(["2028-02-29T00:00Z", "2028-03-31T00:00Z"]);
    expect(times("0 9 * feb MON-TUE", "UTC", "2027-12-31T00:00Z", 2)).toEqual(["2028-02-01T09:00Z", "2028-02-07T09:00Z"]);
    expect(times("@daily", "Asia/Kolkata", "2026-01-01T00:00Z", 1)).toEqual(["2026-01-01T18:30Z"]);
    expect(times("*/20 * * * * *", "UTC", "2026-01-01T00:00:00.500Z", 2)).toEqual(["2026-01-01T00:00:20.000Z", "2026-01-01T00:00:40.000Z"]);
  });

  it("gives a time that several expressions name once, in order", () => {
    expect(times(["0 */2 * * *", "0 */3 * * *"], "UTC", "2026-01-01T00:00Z", 4)).toEqual([
      "2026-01-01T02:00Z",
      "2026-01-01T03:00Z",
      "2026-01-01T04:00Z",
      "2026-01-01T06:00Z",
    ]);
  });

  it("keeps within start and end, both included", () => {
    const bounds = { startMs: Date.parse("2026-01-03T00:00Z"), endMs: Date.parse("2026-01-04T00:00Z") };
    expect(times("@daily", "UTC", "2026-01-01T00:00Z", 9, bounds)).toEqual(["2026-01-03T00:00Z", "2026-01-04T00:00Z"]);
    expect(times("@daily", "UTC", "2026-01-01T00:00Z", 1, { startMs: bounds.startMs + 1 })).toEqual(["2026-01-04T00:00Z"]);
  });

  it("is empty where a day never comes, and says so soon", () => {
    const beganMs = performance.now();
    expect(times("0 0 30 2 *", "Europe/Berlin", "2026-01-01T00:00Z", 1)).toEqual([]);
    expect(performance.now() - beganMs).toBeLessThan(2_000);
  });

  it.each(["", "* * * *", "* * * * * * 2030", "61 * * * *", "* * * * MOON", "2026-03-01T00:00:00", "@reboot", "@", "0 0 * * *\n0 1 * * *", "*/0 * * * *"])(
    "refuses %j and names the field",
    (text) => {
      expect(() => createCalendar({ cron: ["@daily", text], timeZone: "UTC" })).toThrow(
        expect.objectContaining({ code: ErrorCode.VALIDATION, message: expect.stringContaining(`spec.cron[1] ${JSON.stringify(text)} is no cron expression`) }),
      );
    },
  );

  it.each(["Mars/Olympus", "+02:00", "", " UTC", "__proto__"])("refuses the time zone %j", (timeZone) => {
    expect(() => createCalendar({ cron: ["@daily"], timeZone })).toThrow(
      expect.objectContaining({ code: ErrorCode.VALIDATION, message: expect.stringContaining("spec.time_zone") }),
    );
  });
});

describe("a calendar of many patterns", () => {
  const patterns = Array.from({ length: 16 }, (_, index) => `${index * 3} * * * * *`);

  it("looks for each pattern's next time once, however many times it is gone through", () => {
    const looked = vi.spyOn(Cron.prototype, "nextRun");
    const calendar = createCalendar({ cron: [...patterns, ...patterns], timeZone: "UTC" });
    let atMs = Date.UTC(2026, 0, 1) - 1_000;
    for (let index = 0; index < 160; index++) atMs = calendar.next(atMs) ?? 0;
    expect(atMs).toBe(Date.UTC(2026, 0, 1, 0, 9, 45));
    // Each of 160 times was found by one look, and the first sixteen looks were for the first.
    expect(looked.mock.calls.length).toBeLessThanOrEqual(160 + 16);
    looked.mockRestore();
  });

  it("has the same times whichever moments are asked for before", () => {
    const calendar = createCalendar({ cron: patterns, timeZone: "Europe/Berlin" });
    const moments = [100, 3, 50, 47, 46, 100, 99, 0].map((seconds) => Date.UTC(2026, 2, 29, 0, 59) + seconds * 1_000);
    for (const atMs of moments) expect(calendar.next(atMs)).toBe(createCalendar({ cron: patterns, timeZone: "Europe/Berlin" }).next(atMs));
  });
});

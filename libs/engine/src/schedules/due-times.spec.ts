import { describe, expect, it } from "vitest";
import { createCalendar } from "./calendar.ts";
import { type DueTimes, dueTimes, jitterOf } from "./due-times.ts";

const START_MS = Date.parse("2026-01-01T00:00Z");
const MINUTE_MS = 60_000;
const at = (minutes: number): number => START_MS + minutes * MINUTE_MS;

function due(nowMinutes: number, more: Partial<Parameters<typeof dueTimes>[0]> = {}): DueTimes {
  return dueTimes({
    calendar: createCalendar({ cron: ["* * * * *"], timeZone: "UTC" }),
    scheduleId: "s",
    takenThroughMs: START_MS,
    nowMs: at(nowMinutes),
    catchUpMs: 3 * MINUTE_MS,
    jitterMs: 0,
    limit: 100,
    ...more,
  });
}

describe("what is due", () => {
  it("is every time since the last that was taken, and none before its moment", () => {
    expect(due(0.99)).toEqual({ missed: undefined, dueMs: [], throughMs: START_MS, nextDueMs: at(1) });
    expect(due(1)).toEqual({ missed: undefined, dueMs: [at(1)], throughMs: at(1), nextDueMs: at(2) });
    expect(due(2.5).dueMs).toEqual([at(1), at(2)]);
  });

  it("was missed where it is older than the catch-up window, and all within it is made up for", () => {
    expect(due(10.5)).toEqual({ missed: { atMs: at(1), count: 7 }, dueMs: [at(8), at(9), at(10)], throughMs: at(10), nextDueMs: at(11) });
    expect(due(10)).toMatchObject({ missed: { count: 6 }, dueMs: [at(7), at(8), at(9), at(10)] });
    expect(due(10, { catchUpMs: 0 })).toMatchObject({ missed: { count: 9 }, dueMs: [at(10)] });
    expect(due(10.5, { takenThroughMs: at(9) })).toMatchObject({ missed: undefined, dueMs: [at(10)] });
  });

  it("is counted to a bound after a year away, soon", () => {
    const beganMs = performance.now();
    const found = due(525_600, { calendar: createCalendar({ cron: ["* * * * * *"], timeZone: "Europe/Berlin" }), catchUpMs: 5_000 });
    expect(found).toMatchObject({ missed: { atMs: START_MS + 1_000, count: 1_000 }, throughMs: at(525_600) });
    expect(found.dueMs).toHaveLength(6);
    expect(performance.now() - beganMs).toBeLessThan(2_000);
  });

  it("is no more than the limit at once; the next is due already then", () => {
    expect(due(10, { catchUpMs: 60 * MINUTE_MS, limit: 4 })).toMatchObject({ dueMs: [at(1), at(2), at(3), at(4)], throughMs: at(4), nextDueMs: at(5) });
  });

  it("is nothing while a clock that stepped back has not come to where it was", () => {
    expect(due(5, { takenThroughMs: at(60) })).toEqual({ missed: undefined, dueMs: [], throughMs: at(60), nextDueMs: at(61) });
  });

  it("ends with the schedule", () => {
    const calendar = createCalendar({ cron: ["* * * * *"], timeZone: "UTC", endMs: at(2) });
    expect(due(2, { calendar })).toMatchObject({ dueMs: [at(1), at(2)], nextDueMs: undefined });
    expect(due(9, { calendar, takenThroughMs: at(2) })).toEqual({ missed: undefined, dueMs: [], throughMs: at(2), nextDueMs: undefined });
  });

  it("is late by its jitter, which widens what is made up for", () => {
    const jitterMs = 30_000;
    const lateMs = jitterOf("s", at(1), jitterMs);
    expect(due(1, { jitterMs, nowMs: at(1) + lateMs - 1 }).dueMs).toEqual([]);
    expect(due(1, { jitterMs, nowMs: at(1) + lateMs }).dueMs).toEqual([at(1)]);
    expect(due(1, { jitterMs, catchUpMs: 0, nowMs: at(1) + lateMs })).toMatchObject({ missed: undefined, dueMs: [at(1)] });
  });
});

describe("jitter", () => {
  it("is the same for whoever computes it, spreads over its whole range, and differs between schedules", () => {
    const of = (id: string): number[] => Array.from({ length: 500 }, (_, index) => jitterOf(id, at(index), 1_000));
    expect(of("a")).toEqual(of("a"));
    expect(of("a")).not.toEqual(of("b"));
    expect(Math.min(...of("a"))).toBeLessThan(50);
    expect(Math.max(...of("a"))).toBeGreaterThan(950);
    expect(of("a").every((ms) => Number.isInteger(ms) && ms >= 0 && ms < 1_000)).toBe(true);
    expect(jitterOf("a", at(1), 0)).toBe(0);
  });
});

import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { ScheduleSpecSchema } from "@forge/protocol/workflow";
import { expect, it } from "vitest";
import { checkTiming } from "./schedule-spec.ts";

const NOW_MS = Date.parse("2026-11-30T00:00:00Z");

it("an expression that names no time that there is is refused, also beside one that does: it would be looked for for ever", () => {
  const check = (...cron: string[]) => checkTiming(create(ScheduleSpecSchema, { cron }), NOW_MS);
  expect(() => check("* * * * *", "0 0 30 2 *")).toThrow(
    expect.objectContaining({ code: ErrorCode.VALIDATION, message: expect.stringContaining('"0 0 30 2 *" names no time') }),
  );
  expect(check("* * * * *", "0 0 29 2 *").cron).toEqual(["* * * * *", "0 0 29 2 *"]);
});

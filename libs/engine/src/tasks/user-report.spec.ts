import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { OutputDeltaSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import { deltaDraft, OutputOffsets } from "./output-offsets.ts";
import { checkReport } from "./user-report.ts";

type Kind = NonNullable<Exclude<MessageInitShape<typeof OutputDeltaSchema>, { $typeName: string }>["kind"]>;

const delta = (kind: Kind) => create(OutputDeltaSchema, { lease: { taskId: "t", epoch: 3 }, kind });

describe("what a tool tells people", () => {
  it("becomes an event of its own, of the attempt that told it", () => {
    expect(deltaDraft(delta({ case: "progress", value: { message: "Half.", fraction: 0.5 } }))?.payload).toMatchObject({
      case: "userProgressReported",
      value: { message: "Half.", fraction: 0.5, epoch: 3 },
    });
    expect(deltaDraft(delta({ case: "structured", value: { type: "table", json: "[]" } }))?.payload).toMatchObject({ case: "userStructuredReported" });
  });

  it("is told once, however often it is reported", () => {
    const offsets = new OutputOffsets();
    const first = delta({ case: "progress", value: { message: "a", offset: 0n } });
    expect(offsets.isNew("t", first)).toBe(true);
    offsets.count("t", first);
    expect(offsets.isNew("t", first)).toBe(false);
    expect(offsets.isNew("t", delta({ case: "progress", value: { message: "b", offset: 1n } }))).toBe(true);
    expect(offsets.isNew("t", delta({ case: "structured", value: { type: "a", json: "1", offset: 0n } }))).toBe(true);
  });

  it.each<[string, Kind, string]>([
    ["a long message", { case: "progress", value: { message: "x".repeat(1_025) } }, "deltas.progress.message"],
    ["more than all", { case: "progress", value: { message: "", fraction: 1.1 } }, "deltas.progress.fraction"],
    ["no number", { case: "progress", value: { message: "", fraction: Number.NaN } }, "deltas.progress.fraction"],
    ["no type", { case: "structured", value: { json: "1" } }, "deltas.structured.type"],
    ["no JSON", { case: "structured", value: { type: "a", json: "{" } }, "deltas.structured.json"],
    ["a large value", { case: "structured", value: { type: "a", json: JSON.stringify("\u00e9".repeat(8_192)) } }, "deltas.structured.json"],
  ])("has bounds: %s", (_, kind, field) => {
    expect(() => checkReport(delta(kind))).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ metadata: expect.objectContaining({ field }) }) }),
    );
  });

  it("is else as it comes", () => {
    expect(checkReport(delta({ case: "structured", value: { type: "a", json: '{"rows":1}' } }))).toBeUndefined();
    expect(checkReport(delta({ case: "tool", value: { text: "x" } }))).toBeUndefined();
  });
});

import { create, type DescField, type DescMessage, ScalarType, toBinary } from "@bufbuild/protobuf";
import { EventSchema } from "@forge/protocol/event";
import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeEvent } from "./encode-event.ts";

const word = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => text.isWellFormed());

/** Any message of a type, two levels deep. */
function anyMessage(schema: DescMessage, depth = 2): fc.Arbitrary<object> {
  const fields = schema.fields.filter((field) => field.oneof === undefined && field.fieldKind !== "map" && (depth > 0 || field.message === undefined));
  return fc.record(Object.fromEntries(fields.map((field) => [field.localName, anyField(field, depth)])), { requiredKeys: [] });
}

function anyField(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.fieldKind === "list") return fc.constant([]);
  if (field.fieldKind === "message") return anyMessage(field.message, depth - 1);
  if (field.fieldKind === "enum") return fc.constantFrom(...field.enum.values.map((value) => value.number));
  switch (field.scalar) {
    case ScalarType.STRING:
      return word;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 20 });
    case ScalarType.DOUBLE:
      return fc.double();
    case ScalarType.INT64:
      return fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n });
    case ScalarType.UINT64:
      return fc.bigInt({ min: 0n, max: 2n ** 63n });
    case ScalarType.INT32:
      return fc.integer({ min: 0, max: 999_999_999 });
    default:
      return fc.nat();
  }
}

const payloads = EventSchema.oneofs[0]?.fields ?? [];

it.each(payloads.map((field) => [field.name, field] as const))("writes %s as the library does", (_, field) => {
  const payload = field.message === undefined ? fc.constant({}) : anyMessage(field.message);
  fc.assert(
    fc.property(anyMessage(EventSchema), payload, (envelope, value) => {
      const event = create(EventSchema, { ...envelope, payload: { case: field.localName, value } } as never);
      expect(Buffer.from(encodeEvent(event).bytes).toString("hex")).toBe(Buffer.from(toBinary(EventSchema, event)).toString("hex"));
    }),
    { numRuns: 20 },
  );
});

it("covers every field of the envelope", () => {
  const known = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
  expect(EventSchema.fields.filter((field) => field.oneof === undefined).map((field) => field.number)).toEqual(known);
});

import { create } from "@bufbuild/protobuf";
import { ValueSchema } from "@forge/protocol/common";
import { expect, it } from "vitest";
import { Payloads } from "./payloads.ts";
import type { ControlPlanePort } from "./port.ts";

/** Payloads whose one artifact has this text. */
function holding(text: string): Payloads {
  const artifact = {
    getArtifact: async function* () {
      yield { content: new TextEncoder().encode(text) };
    },
  };
  return new Payloads({ artifact } as unknown as ControlPlanePort, new AbortController().signal);
}

const value = (path: string[]) => create(ValueSchema, { kind: { case: "artifact", value: { sha256: "a".repeat(64) } }, path });

it("reads the whole of an artifact, or a place in it", async () => {
  const payloads = holding('{"issue":{"frames":["one","two"]}, "n": 1.0}');
  expect(await payloads.fromValue(value([]))).toBe('{"issue":{"frames":["one","two"]}, "n": 1.0}');
  expect(await payloads.fromValue(value(["issue", "frames", "1"]))).toBe('"two"');
});

it.each([[["nothing"]], [["__proto__"]], [["constructor"]], [["list", "length"]], [["list", "7"]], [["n", "x"]]])(
  "refuses a place that is not there: %j",
  async (path) => {
    await expect(holding('{"list":[1],"n":1}').fromValue(value(path))).rejects.toMatchObject({ detail: { metadata: { field: "value.path" } } });
  },
);

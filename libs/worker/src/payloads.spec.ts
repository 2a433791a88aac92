import { create } from "@bufbuild/protobuf";
import { ArtifactRefSchema, TaskLeaseSchema, ValueSchema } from "@forge/protocol/common";
import { expect, it, vi } from "vitest";
import { Payloads } from "./payloads.ts";
import type { ControlPlanePort } from "./port.ts";

const LEASE = create(TaskLeaseSchema, { taskId: "task", epoch: 3, leaseToken: new Uint8Array(16) });

/** Payloads whose one artifact has this text. */
function holding(text: string): Payloads {
  const artifact = {
    getArtifact: async function* () {
      yield { content: new TextEncoder().encode(text) };
    },
  };
  return new Payloads({ artifact } as unknown as ControlPlanePort, LEASE, new AbortController().signal);
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

it("puts also for a task that was told to stop, and no longer for one that was lost", async () => {
  const putArtifact = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    signal.throwIfAborted();
    return { artifact: create(ArtifactRefSchema, { sha256: "kept" }) };
  };
  const [stop, lost] = [new AbortController(), new AbortController()];
  const payloads = new Payloads({ artifact: { putArtifact } } as unknown as ControlPlanePort, LEASE, stop.signal, lost.signal);
  stop.abort(new Error("stop"));
  expect(await payloads.put(new Uint8Array(1), "text/plain")).toMatchObject({ sha256: "kept" });
  lost.abort(new Error("lost"));
  await expect(payloads.put(new Uint8Array(1), "text/plain")).rejects.toThrow("lost");
});

it("reads and puts under the task's lease", async () => {
  const putArtifact = vi.fn<() => Promise<unknown>>(async () => ({ artifact: create(ArtifactRefSchema) }));
  const getArtifact = vi.fn<() => AsyncIterable<unknown>>(async function* () {
    yield { content: new Uint8Array() };
  });
  const payloads = new Payloads({ artifact: { putArtifact, getArtifact } } as unknown as ControlPlanePort, LEASE, new AbortController().signal);
  await payloads.put(new Uint8Array(1), "text/plain");
  await payloads.get("a".repeat(64));
  for (const { mock } of [putArtifact, getArtifact]) expect(mock.calls).toMatchObject([[{ lease: LEASE }, {}]]);
});

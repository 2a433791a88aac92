import { describe, expect, it, vi } from "vitest";
import type { EventFormatsInUse, Store, StoredTask } from "../ports/index.ts";
import { Replicas } from "./replicas.ts";

const KINDS = new Map([["session.closed", 2]]);

/** A control plane that reads up to a format, on a store that says this of the others. */
async function setup(reads: number, inUse: EventFormatsInUse) {
  const said: { -readonly [Name in keyof EventFormatsInUse]: EventFormatsInUse[Name] } = { ...inUse };
  const store = {
    keepReplica: async () => ({ ...said }),
    eventFormats: async () => ({ ...said }),
    announceFormat: vi.fn<Store["announceFormat"]>(async (format) => ({ ...said, written: Math.max(said.written, format) })),
    unlease: vi.fn<Store["unlease"]>(async () => undefined),
    wake: vi.fn<Store["wake"]>(),
  };
  const onLost = vi.fn<() => void>();
  const replicas = new Replicas(store as unknown as Store, "a", { reads, kinds: KINDS }, onLost);
  await replicas.keep();
  return { replicas, store, said, onLost };
}

function task(streamId: string): StoredTask {
  return { namespace: "default", streamId, route: "default tool:echo" } as StoredTask;
}

describe("a newer control plane", () => {
  it("announces a format before it writes it, once, and writes it only while everybody reads it", async () => {
    const { replicas, store, said } = await setup(2, { written: 1, readByAll: 1, replicas: ["a", "old"] });
    expect(await replicas.mayWrite(2)).toBe(false);
    expect(store.announceFormat).not.toHaveBeenCalled();
    said.readByAll = 2;
    expect([await replicas.mayWrite(2), await replicas.mayWrite(2)]).toEqual([true, true]);
    expect(store.announceFormat.mock.calls).toEqual([[2]]);
    said.readByAll = 1;
    await replicas.keep();
    expect(await replicas.mayWrite(2)).toBe(false);
  });

  it("does not write it where an older one has joined while it was announced", async () => {
    const { replicas, store } = await setup(2, { written: 1, readByAll: 2, replicas: ["a"] });
    store.announceFormat.mockResolvedValueOnce({ written: 2, readByAll: 1, replicas: ["a", "old"] });
    expect(await replicas.mayWrite(2)).toBe(false);
  });
});

describe("an older control plane", () => {
  it("gives back tasks of streams that it can't read, tells whoever serves them, and remembers", async () => {
    const { replicas, store } = await setup(1, { written: 2, readByAll: 1, replicas: ["a", "new"] });
    const read = async ({ streamId }: StoredTask) => {
      if (streamId !== "newer") return;
      replicas.isUnreadable(streamId);
      throw new Error("unknown kind");
    };
    expect(await replicas.readable([task("newer"), task("plain")], read)).toEqual([task("plain")]);
    expect(store.unlease.mock.calls).toEqual([[[task("newer")]]]);
    expect(store.wake.mock.calls).toEqual([[[{ namespace: "default", streamId: "", seq: 0, routes: ["default tool:echo"] }]]]);
    expect(replicas.left).toEqual(["newer"]);
    expect([replicas.isUnreadable("newer"), replicas.isUnreadable("another")]).toEqual([false, true]);
  });

  it("looks at nothing where nothing newer was written", async () => {
    const { replicas } = await setup(1, { written: 1, readByAll: 1, replicas: ["a"] });
    const read = vi.fn<() => Promise<void>>();
    expect(await replicas.readable([task("any")], read)).toEqual([task("any")]);
    expect(read).not.toHaveBeenCalled();
  });
});

it("hears when another has gone, and not when one has come", async () => {
  const { replicas, said, onLost } = await setup(1, { written: 1, readByAll: 1, replicas: ["a"] });
  Object.assign(said, { replicas: ["a", "b"] });
  await replicas.keep();
  expect(onLost).not.toHaveBeenCalled();
  Object.assign(said, { replicas: ["a"] });
  await replicas.keep();
  expect(onLost).toHaveBeenCalledOnce();
});

import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

describe("the executor's settings", () => {
  it("serves the default queue of a control plane on this machine unless told otherwise", () => {
    expect(readConfig({})).toMatchObject({ FORGE_URL: "http://127.0.0.1:7233", FORGE_QUEUES: ["default"], FORGE_WORKSPACE: ".", FORGE_DRAIN_SECONDS: 30 });
    expect(readConfig({ FORGE_QUEUES: "a, b" }).FORGE_QUEUES).toEqual(["a", "b"]);
  });

  it("serves models and tools unless one of them is left to another", () => {
    expect(readConfig({}).FORGE_SERVES).toEqual(["models", "tools"]);
    expect(readConfig({ FORGE_SERVES: " tools " }).FORGE_SERVES).toEqual(["tools"]);
    for (const wrong of ["", "functions", "models,x"]) expect(() => readConfig({ FORGE_SERVES: wrong })).toThrow(/FORGE_SERVES/);
  });

  it("names every variable that is wrong", () => {
    expect(() => readConfig({ FORGE_URL: "ftp://x", FORGE_SLOTS: "0" })).toThrow(/FORGE_URL: .*\nFORGE_SLOTS: /);
  });
});

import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

describe("the control plane's settings", () => {
  it("listens on loopback unless told otherwise, and reads lists", () => {
    const config = readConfig({ DATABASE_URL: "postgres://db/forge", FORGE_HOSTS: " a.example, ,b.example" });
    expect(config).toMatchObject({ FORGE_HOST: "127.0.0.1", FORGE_PORT: 7233, FORGE_HOSTS: ["a.example", "b.example"], FORGE_WORKER_QUEUES: [] });
  });

  it("names every variable that is wrong and shows no value", () => {
    const wrong = () => readConfig({ DATABASE_URL: "mysql://user:secret@db", FORGE_PORT: "99999" });
    expect(wrong).toThrow(/DATABASE_URL: .*\nFORGE_PORT: /);
    expect(wrong).not.toThrow(/secret/);
  });
});

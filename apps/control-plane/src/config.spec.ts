import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

describe("the control plane's settings", () => {
  it("listens on loopback unless told otherwise, and reads lists", () => {
    const config = readConfig({ DATABASE_URL: "postgres://db/forge", FORGE_HOSTS: " a.example, ,b.example" });
    expect(config).toMatchObject({ FORGE_HOST: "127.0.0.1", FORGE_PORT: 7233, FORGE_HOSTS: ["a.example", "b.example"], FORGE_WORKER_QUEUES: [] });
  });

  it("archives nothing unless told when", () => {
    const after = (text?: string) => readConfig({ DATABASE_URL: "postgres://db/forge", FORGE_ARCHIVE_AFTER: text }).FORGE_ARCHIVE_AFTER;
    expect([after(), after(""), after("30d"), after("12h")]).toEqual([undefined, undefined, 30 * 86_400_000, 12 * 3_600_000]);
    expect(() => after("soon")).toThrow(/FORGE_ARCHIVE_AFTER: expected a duration/);
  });

  it("knows of a pooler by the address past it", () => {
    const direct = (url?: string) => readConfig({ DATABASE_URL: "postgres://pooler/forge", DATABASE_DIRECT_URL: url }).DATABASE_DIRECT_URL;
    expect([direct(), direct(""), direct("postgres://db/forge")]).toEqual([undefined, undefined, "postgres://db/forge"]);
    expect(() => direct("db")).toThrow(/DATABASE_DIRECT_URL: /);
  });

  it("names every variable that is wrong and shows no value", () => {
    const wrong = () => readConfig({ DATABASE_URL: "mysql://user:secret@db", FORGE_PORT: "99999" });
    expect(wrong).toThrow(/DATABASE_URL: .*\nFORGE_PORT: /);
    expect(wrong).not.toThrow(/secret/);
  });
});

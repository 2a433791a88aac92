import { describe, expect, it } from "vitest";
import { parseChatLine, SLASH_COMMANDS, slashHelp } from "./slash-command.ts";

describe("a line in a chat", () => {
  it.each([
    ["What is /etc?", { kind: "say", text: "What is /etc?" }],
    ["//pause is a command", { kind: "say", text: "/pause is a command" }],
    ["/etc/hosts has what?", { kind: "say", text: "/etc/hosts has what?" }],
    ["/pause", { kind: "pause" }],
    [" /continue ", { kind: "continue" }],
    ["/plan", { kind: "mode", mode: "PLAN" }],
    ["/mode Bypass", { kind: "mode", mode: "BYPASS" }],
    ["/mode", { kind: "mode" }],
    ["/rewind", { kind: "rewind" }],
    ["/rewind 3", { kind: "rewind", message: 3 }],
    ["/rewind 3 keep", { kind: "rewind", message: 3, keepFiles: true }],
    ["/fork", { kind: "fork", seq: 0n }],
    ["/fork 12", { kind: "fork", seq: 12n }],
    ["/compact the names,\nand why", { kind: "compact", instructions: "the names,\nand why" }],
    ["/model openai/gpt-5", { kind: "model", model: "openai/gpt-5" }],
    ["/approve revoke", { kind: "grants", revoke: true }],
  ])("%s is understood", (line, meant) => {
    expect(parseChatLine(line)).toEqual(meant);
  });

  it.each(["/", "/nothing", "/pause now", "/fork back", "/mode fast", "/rewind all", "/model gpt", "/approve everything"])("%s is explained", (line) => {
    expect(parseChatLine(line).kind).toBe("wrong");
  });

  it("has a command for every line of the help", () => {
    for (const { name } of SLASH_COMMANDS) expect(parseChatLine(`/${name}`).kind).not.toBe("wrong");
    expect(slashHelp().every((line) => line.startsWith("/") && line.length < 120)).toBe(true);
  });
});

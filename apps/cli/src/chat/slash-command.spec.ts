import { describe, expect, it } from "vitest";
import { parseChatLine } from "./slash-command.ts";

describe("a line in a chat", () => {
  it.each([
    ["What is /etc?", { kind: "say", text: "What is /etc?" }],
    ["//pause is a command", { kind: "say", text: "/pause is a command" }],
    ["/pause", { kind: "pause" }],
    [" /continue ", { kind: "continue" }],
    ["/fork", { kind: "fork", seq: 0n }],
    ["/fork 12", { kind: "fork", seq: 12n }],
    ["/compact They spoke.\nA lot.", { kind: "compact", summary: "They spoke.\nA lot." }],
  ])("%s is understood", (line, meant) => {
    expect(parseChatLine(line)).toEqual(meant);
  });

  it.each(["/", "/nothing", "/pause now", "/fork back", "/compact"])("%s is explained", (line) => {
    expect(parseChatLine(line).kind).toBe("wrong");
  });
});

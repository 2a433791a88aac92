import { ApprovalScope } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { approvalKey } from "./approval-keys.ts";

describe("an answer to a call", () => {
  it.each([
    ["a", { kind: "allow" }],
    ["Yes", { kind: "allow" }],
    ["t", { kind: "grant", scope: ApprovalScope.TURN }],
    [" s ", { kind: "grant", scope: ApprovalScope.SESSION }],
    ["d", { kind: "deny", comment: "", stops: false }],
    ["n not here", { kind: "deny", comment: "not here", stops: false }],
    ["D", { kind: "deny", comment: "", stops: true }],
    ["D enough", { kind: "deny", comment: "enough", stops: true }],
    ["use the other file", { kind: "deny", comment: "use the other file", stops: false }],
    ["allow it all", { kind: "deny", comment: "allow it all", stops: false }],
    ["e", { kind: "edit" }],
    ["v", { kind: "view" }],
  ])("%j is understood", (typed, meant) => expect(approvalKey(typed)).toEqual(meant));

  it.each(["", "   ", "x", "1", "?"])("%j does nothing", (typed) => expect(approvalKey(typed)).toEqual({ kind: "unclear" }));
});

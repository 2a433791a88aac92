import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { errorJson, errorLines, toForgeError } from "./error-report.ts";
import { PLAIN } from "./style.ts";

describe("error report", () => {
  it("says where in a file it is, once", () => {
    const metadata = { file: "workflows/a.yaml", line: "3", column: "5" };
    const plain = new ForgeError(ErrorCode.VALIDATION, "unknown step b", { reason: "WORKFLOW_VALIDATION", metadata });
    const placed = new ForgeError(ErrorCode.VALIDATION, "workflows/a.yaml:3:5: unknown step b", { reason: "WORKFLOW_VALIDATION", metadata });
    const expected = ["error: workflows/a.yaml:3:5: unknown step b (WORKFLOW_VALIDATION)"];
    expect(errorLines(plain.detail, PLAIN)).toEqual(expected);
    expect(errorLines(placed.detail, PLAIN)).toEqual(expected);
  });

  it("names the code where there is no reason", () => {
    expect(errorLines(new ForgeError(ErrorCode.NOT_FOUND, "no such run").detail, PLAIN)).toEqual(["error: no such run (NOT_FOUND)"]);
  });

  it("is JSON for machines, with the code's plain name", () => {
    const error = ForgeError.validation("label", "a label has a key");
    expect(JSON.parse(errorJson(error.detail))).toEqual({ error: { code: "VALIDATION", message: "a label has a key", metadata: { field: "label" } } });
  });

  it("knows what the system refuses", () => {
    const refused = Object.assign(new Error("EACCES: permission denied, open '/a'"), { code: "EACCES", path: "/a" });
    expect(toForgeError(refused)).toMatchObject({ code: ErrorCode.STORAGE_ERROR, message: "/a: permission denied" });
  });

  it("takes what no code foresees for a bug", () => {
    expect(toForgeError(new TypeError("x is undefined"))).toMatchObject({ code: ErrorCode.INTERNAL, message: "x is undefined" });
  });
});

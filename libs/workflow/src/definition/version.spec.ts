import { describe, expect, it } from "vitest";
import { parseReference } from "./reference.ts";
import { compareVersions, normalizeVersion } from "./version.ts";

describe("versions", () => {
  it("have one form", () => {
    expect(["v1", "V01", "2", " v2.010 ", "v10"].map(normalizeVersion)).toStrictEqual(["v1", "v1", "v2", "v2.10", "v10"]);
    for (const text of ["", "v", "latest", "v1.", "v1.2.3.4.5", "v-1", "1e3", "v1 beta", "v99999999999"]) expect(normalizeVersion(text)).toBeUndefined();
  });

  it("are ordered by their numbers", () => {
    expect(["v10", "v2.1", "v2", "v2.0", "v9"].toSorted(compareVersions)).toStrictEqual(["v2", "v2.0", "v2.1", "v9", "v10"]);
  });
});

describe("references", () => {
  it("are an id, or an id and a version", () => {
    expect(parseReference("triage")).toStrictEqual({ id: "triage", version: undefined });
    expect(parseReference("triage@2")).toStrictEqual({ id: "triage", version: "v2" });
    for (const text of ["", "a b", "../x", "a@", "a@b", "@v1", "a@v1@v2"]) expect(parseReference(text)).toBeUndefined();
  });
});

import { readFile } from "node:fs/promises";
import { ForgeError, ROLES } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { callersOf, checkRole } from "./callers.ts";
import { SERVICES } from "./services.ts";

/** Who may make each call, as the guide tells people. A method that is added must be put there by somebody who has thought about it. */
async function readGuide(): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = await readFile(new URL("../../../docs/guides/access.md", import.meta.url), "utf8");
  const [titles = [], ...rows] = text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const allowed = (cells: readonly string[]): readonly string[] => titles.filter((_, index) => index > 0 && cells[index] !== "");
  return new Map(rows.flatMap((cells) => Array.from((cells[0] ?? "").matchAll(/`([^`]+)`/g), ([, name = ""]) => [name, allowed(cells)] as const)));
}

const guide = await readGuide();
const methods = SERVICES.flatMap(({ service }) => service.methods.map((method) => ({ method, name: `${service.name}.${method.name}` })));

describe("a role", () => {
  it("is decided for every method, in the guide as well", () => {
    expect([...guide.keys()].toSorted()).toEqual(methods.map(({ name }) => name).toSorted());
  });

  it.each(methods)("may call $name as the guide says, or is told which role may", ({ method, name }) => {
    const allowed: string[] = [];
    for (const role of ROLES) {
      try {
        checkRole(role, method);
        allowed.push(role);
      } catch (error) {
        expect(error).toBeInstanceOf(ForgeError);
        const { code, reason, message, detail } = error as ForgeError;
        expect({ code, reason }).toEqual({ code: ErrorCode.PERMISSION_DENIED, reason: "ROLE_REQUIRED" });
        for (const needed of callersOf(method.parent.name, method.name)) expect(message).toContain(needed);
        expect(detail.metadata).toMatchObject({ role });
      }
    }
    expect(allowed).toEqual(guide.get(name));
  });

  it("may not call what nobody has decided about", () => {
    expect(callersOf("SessionService", "Unheard")).toEqual([]);
  });
});

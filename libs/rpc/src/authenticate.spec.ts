import { createHash } from "node:crypto";
import type { StoredPrincipal } from "@forge/engine/ports";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAuthenticator, type FindPrincipal, namespaceOf } from "./authenticate.ts";

const TOKEN = "forge_0123456789abcdef";
const PRINCIPAL: StoredPrincipal = { id: "tester", role: "admin", namespaces: ["first", "second"], queues: [] };

describe("a request's credential", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function setup() {
    const known = new Map([[createHash("sha256").update(TOKEN).digest("hex"), PRINCIPAL]]);
    const find = vi.fn<FindPrincipal>(async (hash) => known.get(Buffer.from(hash).toString("hex")));
    return { known, find, authenticate: createAuthenticator(find) };
  }

  it.each([null, "", TOKEN, `Basic ${TOKEN}`, "Bearer", "Bearer short", `Bearer ${TOKEN} and more`, `Bearer ${"x".repeat(513)}`, "Bearer forge_0123456789äöü"])(
    "is refused without a look at the store when it is missing or malformed: %s",
    async (header) => {
      const { authenticate, find } = setup();
      await expect(authenticate(header)).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED });
      expect(find).not.toHaveBeenCalled();
    },
  );

  it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`])("is found by the hash of its token: %s", async (header) => {
    const { authenticate } = setup();
    expect(await authenticate(header)).toBe(PRINCIPAL);
  });

  it("is not looked up again within five seconds, and then is, so that a withdrawn one stops working", async () => {
    const { authenticate, find, known } = setup();
    await authenticate(`Bearer ${TOKEN}`);
    known.clear();
    vi.advanceTimersByTime(4_999);
    expect(await authenticate(`Bearer ${TOKEN}`)).toBe(PRINCIPAL);
    expect(find).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    await expect(authenticate(`Bearer ${TOKEN}`)).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED });
  });

  it("is looked up once for all who ask at the same time, and anew for who wants it fresher than it is kept", async () => {
    const { authenticate, find } = setup();
    const found = await Promise.all(Array.from({ length: 100 }, () => authenticate(`Bearer ${TOKEN}`)));
    expect(new Set(found)).toEqual(new Set([PRINCIPAL]));
    expect(find).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1_000);
    await authenticate(`Bearer ${TOKEN}`, 1_001);
    expect(find).toHaveBeenCalledTimes(1);
    await authenticate(`Bearer ${TOKEN}`, 1_000);
    expect(find).toHaveBeenCalledTimes(2);
    find.mockRejectedValueOnce(new Error("no database"));
    await expect(authenticate(`Bearer ${TOKEN}`, 0)).rejects.toThrow("no database");
    await authenticate(`Bearer ${TOKEN}`, 0);
  });

  it("is refused when nobody knows it, and works at once when it is granted", async () => {
    const { authenticate, known } = setup();
    known.clear();
    await expect(authenticate(`Bearer ${TOKEN}`)).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED });
    known.set(createHash("sha256").update(TOKEN).digest("hex"), PRINCIPAL);
    expect(await authenticate(`Bearer ${TOKEN}`)).toBe(PRINCIPAL);
  });

  it("is refused from its last moment on, also where it was just used, and says since when", async () => {
    const { authenticate, known } = setup();
    const expiresAtMs = Date.now() + 2_000;
    known.set(createHash("sha256").update(TOKEN).digest("hex"), { ...PRINCIPAL, expiresAtMs });
    await authenticate(`Bearer ${TOKEN}`);
    vi.advanceTimersByTime(1_999);
    await authenticate(`Bearer ${TOKEN}`);
    vi.advanceTimersByTime(1);
    await expect(authenticate(`Bearer ${TOKEN}`)).rejects.toMatchObject({
      code: ErrorCode.UNAUTHENTICATED,
      reason: "TOKEN_EXPIRED",
      message: expect.stringContaining(new Date(expiresAtMs).toISOString()),
    });
    vi.advanceTimersByTime(10_000);
    await expect(authenticate(`Bearer ${TOKEN}`)).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
  });

  it("is never part of what is said about it", async () => {
    const { authenticate, known } = setup();
    known.clear();
    await expect(authenticate(`Bearer ${TOKEN}`)).rejects.not.toThrow(TOKEN);
  });
});

describe("a request's namespace", () => {
  it("is the credential's first unless its header names another that the credential grants", () => {
    expect(namespaceOf(PRINCIPAL, null)).toBe("first");
    expect(namespaceOf(PRINCIPAL, "second")).toBe("second");
  });

  it.each(["third", "", "FIRST", "first,second"])("is refused when the credential does not grant it: %s", (header) => {
    expect(() => namespaceOf(PRINCIPAL, header)).toThrow(expect.objectContaining({ code: ErrorCode.PERMISSION_DENIED }));
  });

  it("is refused where the credential grants none", () => {
    expect(() => namespaceOf({ ...PRINCIPAL, namespaces: [] }, null)).toThrow(expect.objectContaining({ code: ErrorCode.PERMISSION_DENIED }));
  });
});

import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Call } from "@forge/protocol";
import { AccessRole, ErrorCode } from "@forge/protocol/common";
import { CreateTokenRequestSchema, ListTokensRequestSchema, RevokeTokenRequestSchema } from "@forge/protocol/token";
import { describe, expect, it } from "vitest";
import type { GrantedPrincipal, StoredPrincipal } from "../ports/index.ts";
import { createTokenService } from "./token-service.ts";

const CALL: Call = { namespace: "a", namespaces: ["a", "b"], principal: "boss", role: "admin", signal: new AbortController().signal };
const HASH = new Uint8Array(32).fill(7);
const GRANT = { name: "ci@team", role: AccessRole.OPERATOR, namespaces: ["b"] };

/** What the port says of principals, in memory. */
function setup() {
  const kept: GrantedPrincipal[] = [];
  const isWithin = (principal: StoredPrincipal, namespaces: readonly string[]) => principal.namespaces.every((each) => namespaces.includes(each));
  const tokens = createTokenService({
    store: {
      createPrincipal: async (principal, createdBy) => {
        const found = kept.find(({ id }) => id === principal.id);
        if (found !== undefined) return isDeepStrictEqual(found, { ...found, ...principal }) ? found : undefined;
        const made = { ...principal, createdBy, createdAtMs: 1_000 };
        kept.push(made);
        return made;
      },
      listPrincipals: async ({ namespaces, limit, afterId = "" }) => kept.filter((each) => isWithin(each, namespaces) && each.id > afterId).slice(0, limit),
      removePrincipal: async (id, namespaces) => {
        const index = kept.findIndex((each) => each.id === id && isWithin(each, namespaces));
        if (index >= 0) kept.splice(index, 1);
        return index >= 0;
      },
    },
  });
  return {
    kept,
    createToken: (grant: object, tokenSha256 = HASH, call = CALL) => tokens.createToken(create(CreateTokenRequestSchema, { grant, tokenSha256 }), call),
    listTokens: (page: object, call = CALL) => tokens.listTokens(create(ListTokensRequestSchema, page), call),
    revokeToken: (name: string, call = CALL) => tokens.revokeToken(create(RevokeTokenRequestSchema, { name }), call),
  };
}

describe("tokens", () => {
  it("are created, listed and revoked, with who granted them and until when", async () => {
    const { createToken, listTokens, revokeToken } = setup();
    const expiresAt = timestampFromMs(Date.now() + 60_000);
    const { token } = await createToken({ ...GRANT, expiresAt });
    expect(token).toMatchObject({ grant: { ...GRANT, queues: [], expiresAt }, createdBy: "boss", createdAt: { seconds: 1n } });
    expect((await createToken({ ...GRANT, expiresAt })).token).toEqual(token);
    expect((await listTokens({})).tokens).toEqual([token]);
    await revokeToken("ci@team");
    expect((await listTokens({})).tokens).toEqual([]);
    await expect(revokeToken("ci@team")).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
  });

  it("come in pages that a name leads on from", async () => {
    const { createToken, listTokens } = setup();
    for (const name of ["a", "b", "c"]) await createToken({ ...GRANT, name });
    const first = await listTokens({ pageSize: 2 });
    expect([first.tokens.map(({ grant }) => grant?.name), first.nextPageToken]).toEqual([["a", "b"], "b"]);
    const last = await listTokens({ pageSize: 2, pageToken: "b" });
    expect([last.tokens.map(({ grant }) => grant?.name), last.nextPageToken]).toEqual([["c"], ""]);
    await expect(listTokens({ pageToken: "a b" })).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
  });

  it("are not given in place of another of their name", async () => {
    const { createToken } = setup();
    await createToken(GRANT);
    await expect(createToken({ ...GRANT, role: AccessRole.ADMIN })).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "TOKEN_EXISTS" });
  });

  it("can't grant, show or withdraw what reaches beyond the caller's namespaces", async () => {
    const { createToken, listTokens, revokeToken, kept } = setup();
    await expect(createToken({ ...GRANT, namespaces: ["b", "c"] })).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED });
    // Without a list of what the credential grants, it is the one namespace of the call.
    const { namespaces: _, ...narrow } = CALL;
    await expect(createToken(GRANT, HASH, narrow)).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED });
    kept.push({ id: "wide", role: "viewer", namespaces: ["a", "c"], queues: [], createdAtMs: 0, createdBy: "" });
    expect((await listTokens({})).tokens).toEqual([]);
    await expect(revokeToken("wide")).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
  });

  it("can't outlive the token that they are granted with", async () => {
    const { createToken } = setup();
    const expiresAtMs = Date.now() + 60_000;
    const call: Call = { ...CALL, expiresAtMs };
    const late = timestampFromMs(expiresAtMs + 1);
    for (const grant of [GRANT, { ...GRANT, expiresAt: late }]) {
      await expect(createToken(grant, HASH, call)).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "GRANT_TOO_LONG" });
    }
    expect((await createToken({ ...GRANT, expiresAt: timestampFromMs(expiresAtMs) }, HASH, call)).token?.grant?.name).toBe(GRANT.name);
  });

  it("can't be withdrawn by themselves", async () => {
    await expect(setup().revokeToken("boss")).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "TOKEN_IN_USE" });
  });

  it.each<[string, object | undefined]>([
    ["grant", undefined],
    ["grant.name", { ...GRANT, name: "" }],
    ["grant.name", { ...GRANT, name: "a b" }],
    ["grant.name", { ...GRANT, name: "x".repeat(129) }],
    ["grant.name", { ...GRANT, name: "control-plane" }],
    ["grant.name", { ...GRANT, name: "replica:1" }],
    ["grant.role", { ...GRANT, role: AccessRole.UNSPECIFIED }],
    ["grant.role", { ...GRANT, role: 99 }],
    ["grant.namespaces", { ...GRANT, namespaces: [] }],
    ["grant.namespaces", { ...GRANT, namespaces: ["a", "a"] }],
    ["grant.namespaces", { ...GRANT, namespaces: ["ä"] }],
    ["grant.namespaces", { ...GRANT, namespaces: Array.from({ length: 65 }, (_, index) => `n${index}`) }],
    ["grant.queues", { ...GRANT, queues: ["gpu"] }],
    ["grant.queues", { ...GRANT, role: AccessRole.WORKER, queues: Array.from({ length: 65 }, (_, index) => `q${index}`) }],
    ["grant.expires_at", { ...GRANT, expiresAt: timestampFromMs(Date.now() - 1) }],
    ["grant.expires_at", { ...GRANT, expiresAt: { seconds: 10n ** 15n } }],
  ])("are refused where %s is not what it must be: %o", async (field, grant) => {
    await expect(setup().createToken(grant as object)).rejects.toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field } } });
  });

  it.each([0, 31, 33])("need a whole hash, not one of %i bytes", async (length) => {
    await expect(setup().createToken(GRANT, new Uint8Array(length))).rejects.toMatchObject({ detail: { metadata: { field: "token_sha256" } } });
  });
});

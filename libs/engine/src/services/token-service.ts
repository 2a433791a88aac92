import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Api, accessRole, type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  CreateTokenResponseSchema,
  ListTokensResponseSchema,
  RevokeTokenResponseSchema,
  type Token,
  TokenSchema,
  type TokenService,
} from "@forge/protocol/token";
import type { GrantedPrincipal, Store } from "../ports/index.ts";
import { checkPageSize } from "./check.ts";
import { checkGrant, TOKEN_NAME } from "./check-grant.ts";

const SHA256_BYTES = 32;

export function createTokenService({
  store,
}: {
  readonly store: Pick<Store, "createPrincipal" | "listPrincipals" | "removePrincipal">;
}): Api<typeof TokenService> {
  return {
    async createToken(request, call) {
      checkText(request);
      const principal = checkGrant(request.grant, call, Date.now());
      if (request.tokenSha256.length !== SHA256_BYTES) {
        throw ForgeError.validation("token_sha256", `token_sha256 has ${request.tokenSha256.length} bytes: send the ${SHA256_BYTES} of the token's SHA-256`);
      }
      const created = await store.createPrincipal(principal, call.principal, request.tokenSha256);
      if (created === undefined) {
        throw new ForgeError(
          ErrorCode.CONFLICT,
          `there is a token ${principal.id} with another grant or another text already: choose another name, or revoke it`,
          {
            reason: "TOKEN_EXISTS",
            relatedIds: [principal.id],
          },
        );
      }
      return create(CreateTokenResponseSchema, { token: toToken(created) });
    },
    async listTokens(request, call) {
      const limit = checkPageSize(request.pageSize);
      const afterId = request.pageToken === "" ? undefined : checkName(request.pageToken, "page_token");
      const found = await store.listPrincipals({ namespaces: grantedTo(call), limit, afterId });
      return create(ListTokensResponseSchema, { tokens: found.map(toToken), nextPageToken: found.length === limit ? (found.at(-1)?.id ?? "") : "" });
    },
    async revokeToken(request, call) {
      const name = checkName(request.name, "name");
      if (name === call.principal) {
        throw new ForgeError(ErrorCode.CONFLICT, `${name} is the token that this call was made with: revoke it with another one`, {
          reason: "TOKEN_IN_USE",
          relatedIds: [name],
        });
      }
      if (await store.removePrincipal(name, grantedTo(call))) return create(RevokeTokenResponseSchema);
      throw new ForgeError(ErrorCode.NOT_FOUND, `there is no token ${name} within your namespaces`, { reason: "TOKEN_NOT_FOUND", relatedIds: [name] });
    },
  };
}

/** What reaches beyond a caller's namespaces is no business of his: it is neither listed nor revoked. */
function grantedTo(call: Call): readonly string[] {
  return call.namespaces ?? [call.namespace];
}

function checkName(name: string, field: string): string {
  if (!TOKEN_NAME.test(name)) throw ForgeError.validation(field, `${field} must be 1 to 128 of letters, digits and .-_:@`);
  return name;
}

function toToken({ id, role, namespaces, queues, expiresAtMs, createdAtMs, createdBy }: GrantedPrincipal): Token {
  return create(TokenSchema, {
    grant: {
      name: id,
      role: accessRole(role),
      namespaces: [...namespaces],
      queues: [...queues],
      expiresAt: expiresAtMs === undefined ? undefined : timestampFromMs(expiresAtMs),
    },
    createdAt: timestampFromMs(createdAtMs),
    createdBy,
  });
}

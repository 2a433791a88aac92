import { type Api, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { TokenService } from "@forge/protocol/token";
import type { Store } from "../ports/index.ts";

export function createTokenService(_ports: { readonly store: Store }): Api<typeof TokenService> {
  const unsupported = () => Promise.reject(new ForgeError(ErrorCode.UNSUPPORTED, "tokens are not granted here yet"));
  return { createToken: unsupported, listTokens: unsupported, revokeToken: unsupported };
}

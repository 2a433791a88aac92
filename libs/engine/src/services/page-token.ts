import { ForgeError, isUuid } from "@forge/protocol";

/** The last row of a page, as an opaque token. */
export function pageToken(row: { readonly createdAtMs: number; readonly streamId: string }): string {
  return Buffer.from(`${row.createdAtMs} ${row.streamId}`).toString("base64url");
}

export function parsePageToken(token: string): { readonly createdAtMs: number; readonly streamId: string } | undefined {
  if (token === "") return undefined;
  const [createdAt, streamId] = Buffer.from(token, "base64url").toString().split(" ");
  const createdAtMs = Number(createdAt);
  if (!Number.isFinite(createdAtMs) || streamId === undefined || !isUuid(streamId)) {
    throw ForgeError.validation("page_token", "page_token is none that this server gave: begin again without it");
  }
  return { createdAtMs, streamId };
}

export type { ClientOptions } from "./client-options.ts";
export { commandHeader } from "./command-header.ts";
export { createWebClient, type WebClientOptions } from "./create-web-client.ts";
export { type Followed, type FollowOptions, followEvents } from "./follow-events.ts";
export type { ConnectClient, ForgeClient } from "./forge-client.ts";
export { isPassing, withRetry } from "./retry.ts";

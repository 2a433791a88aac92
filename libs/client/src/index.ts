export { commandHeader } from "./command-header.ts";
export { type ConnectClient, type ConnectClientOptions, createConnectClient } from "./connect-client.ts";
export { type Followed, type FollowOptions, followEvents } from "./follow-events.ts";
export type { ForgeClient } from "./forge-client.ts";
export { createLocalClient, type LocalApis, type LocalCaller } from "./local-client.ts";
export { isPassing, withRetry } from "./retry.ts";

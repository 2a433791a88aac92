export { fakeApis, type Overrides, type ReceivedCall } from "./fake-apis.ts";
export { CLIENT_TOKEN, serve, type Served, WORKER_TOKEN } from "./serve.ts";

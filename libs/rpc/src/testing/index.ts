export { fakeApis, type Overrides, type ReceivedCall } from "./fake-apis.ts";
export { CLIENT_TOKEN, type Served, serve, WORKER_TOKEN } from "./serve.ts";

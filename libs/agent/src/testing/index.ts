export { createFakeContext, type FakeContext, type FakeContextOptions, storeArtifact } from "./fake-context.ts";
export {
  type OpenAiServer,
  type RecordedRequest,
  type Reply,
  resetReply,
  type StreamEnd,
  startOpenAiServer,
  statusReply,
  streamReply,
} from "./openai-server.ts";
export { delta, event, finish, textAnswer, toolCallAnswer, type WireDelta, type WireUsage } from "./openai-stream.ts";

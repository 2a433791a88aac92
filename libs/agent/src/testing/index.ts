export { anthropicError, anthropicText, messageEnd, messageStart, textBlock, thinkingBlock, toolBlock } from "./anthropic-stream.ts";
export { createFakeContext, type FakeContext, type FakeContextOptions, storeArtifact } from "./fake-context.ts";
export { GOOGLE_USAGE, googleError, googleParts, googleText } from "./google-stream.ts";
export { type OpenAiServer, startOpenAiServer } from "./openai-server.ts";
export { delta, event, finish, textAnswer, toolCallAnswer, type WireDelta, type WireUsage } from "./openai-stream.ts";
export { type RecordedRequest, type Reply, resetReply, type StreamEnd, startWireServer, statusReply, streamReply, type WireServer } from "./wire-server.ts";

/** The answer's stream did not come to its proper end; the message continues "the stream broke off: ". */
export class StreamBroken extends Error {
  override readonly name = "StreamBroken";
}

/** The stream holds what Forge never asked for and can't keep; the message is the stream part's type. */
export class UnsupportedContent extends Error {
  override readonly name = "UnsupportedContent";
}

/** The provider was silent for too long; the message is the bound in words. */
export class StreamStalled extends Error {
  override readonly name = "StreamStalled";
}

/** The answer's stream did not come to its proper end; the message continues "the stream broke off: ". */
export class StreamBroken extends Error {
  override readonly name = "StreamBroken";
}

/** The stream holds what Forge never asked for and can't keep; the message is the stream part's type. */
export class UnsupportedContent extends Error {
  override readonly name = "UnsupportedContent";
}

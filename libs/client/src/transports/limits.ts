/** A connection that says nothing for so long is asked whether it is still there, so that a subscriber notices when the other machine is gone. */
export const PING_INTERVAL_MS = 20_000;
/** An artifact of 16 MiB with its envelope; what is larger the server would refuse. In JSON it is base64. */
export const REQUEST_BYTES_MAX = 17 * 1024 * 1024;
export const JSON_REQUEST_BYTES_MAX = 22 * 1024 * 1024;
/** Far more than any answer should be: the longest is a range of a conversation. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes that may wait for one subscriber of the suite's servers: small, so that a slow one is soon found. */
export const SUBSCRIBER_BYTES_MAX = 512 * 1024;

/** Long enough for a worker on a busy machine. Executors that are killed come back under their names, and so don't wait for it. */
export const LEASE_TTL_MS = 60_000;

export const NAMESPACE = "default";

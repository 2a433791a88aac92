export { Batcher, type BatcherOptions } from "./batcher.ts";
export { BoundedQueue } from "./bounded-queue.ts";
export { backoffMs, jitterMs, pause } from "./jitter.ts";
export { Lru } from "./lru.ts";
export { Mailboxes, type MailboxOptions } from "./mailboxes.ts";
export { Placement, type PollResult, type Reservation } from "./placement.ts";

/** How servers say that a request holds more than the model can read. */
const OVERFLOW: readonly RegExp[] = [
  /context[_ -]?(?:length|window|size)[_ -]?exceeded/i,
  /exceed(?:s|ed|ing)?(?: \w+){0,4} context (?:length|window|size|limit)/i,
  /(?:maximum|max|model'?s|available) context (?:length|window|size)/i,
  /exceed_context_size/i,
  /context (?:length|window|the) overflow/i,
  /(?:prompt|input|request) (?:is|was) too (?:long|large)/i,
  /too (?:long|large) for (?:the )?(?:requested )?model/i,
  /(?:input|prompt) (?:token count|tokens?)\b.{0,40}exceed/i,
  /input length and `?max_tokens`? exceed/i,
  /maximum prompt length/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /longer than the (?:model'?s )?context/i,
  /greater than the context length/i,
  /request_too_large|request too large/i,
  /too many (?:input )?tokens/i,
];

/** Statuses by which a request is refused for what it is; 429 where a single request passes what may be sent in a minute, which no waiting helps. */
const STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 429]);

/** Of a 429, only a single request's size is meant; the others are about the rate. */
const TOO_LARGE_FOR_RATE = /request too large/i;

/** Whether an answer says that the request was too long for the model. `status` is undefined for an error within a stream. */
export function isOverflow(status: number | undefined, said: string): boolean {
  if (status === 413) return true;
  if (status !== undefined && !STATUSES.has(status)) return false;
  if (status === 429) return TOO_LARGE_FOR_RATE.test(said);
  return OVERFLOW.some((pattern) => pattern.test(said));
}

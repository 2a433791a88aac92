/** Read no further back than this: what a model is about to do stands at the end. */
const TAIL = 400;

/**
 * An English first person that is about to act, in the last sentences of a text. A question is none: it waits for a person. Bounded, and every alternative is
 * a plain word, so that no text makes it slow.
 */
const ANNOUNCEMENT =
  /\b(?:i'll|i will|i am going to|i'm going to|let me|let's|next, i|now i|i'm about to)\s+(?:now |then |first |also |quickly |go ahead and )?(?:add|apply|ask|build|call|change|check|create|delete|edit|execute|explore|find|fix|implement|inspect|install|list|look|make|modify|open|read|refactor|remove|rename|replace|review|run|search|start|test|try|update|use|verify|write)\b/i;

/** Whether a text without a tool call says that its author is about to use one. */
export function announcesAction(text: string): boolean {
  const tail = text.slice(-TAIL).replaceAll("\u2019", "'").trimEnd();
  return !tail.endsWith("?") && ANNOUNCEMENT.test(tail);
}

const SHOWN_MAX = 120;

/** A path in a message: in quotes, what could move a reader's cursor escaped, cut where it is long. */
export function shown(path: string): string {
  const text = path.length > SHOWN_MAX ? `${path.slice(0, SHOWN_MAX).toWellFormed()}…` : path;
  return JSON.stringify(text);
}

/** The page that the application runs in. */
export interface Page {
  readonly url: URL;
  /** Leaves for another page of the application. */
  go(target: string): void;
  /** Puts a line of text on the page; the answer takes it away again. */
  show(text: string): () => void;
}

type Handlers = Readonly<Partial<Record<NodeJS.Signals, () => void>>>;

/** Handles signals until the returned function is called. */
export function onSignals(handlers: Handlers): () => void {
  const pairs = Object.entries(handlers) as [NodeJS.Signals, () => void][];
  for (const [signal, handler] of pairs) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of pairs) process.off(signal, handler);
  };
}

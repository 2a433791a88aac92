/** Does work for every item, so much of it at once. The first failure ends it, once what is under way has ended. */
export async function forEachParallel<T>(items: Iterable<T>, limit: number, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true && failure === undefined; next = iterator.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (failure !== undefined) throw failure.error;
}

/** Rejects when the work takes longer: what hangs must not hang the measurement. The work itself goes on. */
export async function withinTime<T>(work: Promise<T>, msMax: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end within ${msMax / 1000} s`)), msMax);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Takes turns: one round of each, over and over, after one of each that does not count. The rounds with the same index were measured one after the other, so
 * that what slowed the machine down slowed all of them.
 */
export async function alternate<Name extends string, Taken>(
  count: number,
  rounds: Readonly<Record<Name, () => Promise<Taken>>>,
  progress: (text: string) => void = () => undefined,
): Promise<Readonly<Record<Name, readonly Taken[]>>> {
  const names = Object.keys(rounds) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as Taken[]])) as Record<Name, Taken[]>;
  for (let index = 0; index <= count; index++) {
    for (const name of names) {
      const round = await rounds[name]();
      if (index > 0) taken[name].push(round);
      progress(`  ${index === 0 ? "warm-up" : `round ${index}`}, ${name}: ${JSON.stringify(round, shortened)}`);
    }
  }
  return taken;
}

/** A round's many latencies are told by their number. */
function shortened(_: string, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 8) return `${value.length} values`;
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

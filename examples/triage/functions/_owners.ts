/** Who looks after which part of the code; the longest prefix wins. */
const OWNERS: Readonly<Record<string, string>> = {
  "source/src/": "web-team",
  "source/src/auth/": "identity-team",
  "source/src/reports/": "insights-team",
};

/** The teams that own some files, each once, in the order of the files. */
export function ownersOf(files: readonly string[]): string[] {
  return Array.from(new Set(files.map(ownerOf)));
}

function ownerOf(file: string): string {
  const prefixes = Object.keys(OWNERS).filter((prefix) => file.startsWith(prefix));
  const longest = prefixes.toSorted((a, b) => b.length - a.length)[0];
  return (longest === undefined ? undefined : OWNERS[longest]) ?? "triage-rota";
}

const ORDER = ["Changes that break", "New", "Repaired", "Documentation", "Other"];

/** The notes as Markdown. An item that could not be described is null, and left out. */
export function draft({ version, described, thanks }: { version: string; described: ({ section: string; line: string } | null)[]; thanks: string }): {
  text: string;
} {
  const lines = described.filter((item) => item !== null);
  const sections = ORDER.flatMap((title) => {
    const own = lines.filter(({ section }) => section === title);
    return own.length === 0 ? [] : [`## ${title}\n\n${own.map(({ line }) => `- ${line}`).join("\n")}`];
  });
  return { text: [`# ${version}`, ...sections, thanks].filter((part) => part !== "").join("\n\n") };
}

/** What whoever runs the service has to know beforehand. */
export function warn({ version, breaking }: { version: string; breaking: number }): { written: string } {
  return { written: `${version} breaks what worked before in ${breaking} ${breaking === 1 ? "place" : "places"}: read its notes before you update.` };
}

export function announce({ version }: { version: string }): { message: string } {
  return { message: `${version} is out; its notes are in releases/${version}.md` };
}

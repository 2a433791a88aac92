/** One commit. */
export interface Change {
  commit: string;
  author: string;
  /** The first line of its message. */
  subject: string;
}

const CHANGES_MAX = 500;
const LINE = /^(?<commit>[0-9a-f]{7,40}) (?<author>\S+(?: \S+)??) (?<subject>[a-z]+(?:\([\w-]+\))?!?: .+)$/;
const SUBJECT = /^(?<type>[a-z]+)(?:\((?<scope>[\w-]+)\))?(?<breaking>!)?: (?<text>.+)$/;
const SECTIONS: Readonly<Record<string, string>> = { feat: "New", fix: "Repaired", docs: "Documentation" };

/** Reads the log; lines that are no commit are passed over. */
export function read({ log }: { log: string }): { changes: Change[]; breaking: number } {
  const changes = log
    .split(/\r?\n/)
    .flatMap((line) => {
      const { commit, author, subject } = LINE.exec(line.trim())?.groups ?? {};
      return commit !== undefined && author !== undefined && subject !== undefined ? [{ commit, author, subject }] : [];
    })
    .slice(0, CHANGES_MAX);
  return { changes, breaking: changes.filter(({ subject }) => SUBJECT.exec(subject)?.groups?.["breaking"] !== undefined).length };
}

/** The line that a change gets in the notes, and the section that it belongs to. */
export function describe({ change, number }: { change: Change; number: number }): { section: string; line: string } {
  const { type, scope, breaking, text } = SUBJECT.exec(change.subject)?.groups ?? {};
  if (type === undefined || text === undefined) throw new Error(`change ${number + 1}, ${change.commit}: its subject names no type, as in "fix: ..."`);
  const section = breaking === undefined ? (SECTIONS[type] ?? "Other") : "Changes that break";
  return { section, line: `${scope === undefined ? "" : `**${scope}:** `}${text} (${change.commit})` };
}

/** Everybody who took part, each once, by name. */
export function people({ changes }: { changes: Change[] }): { thanks: string } {
  const names = Array.from(new Set(changes.map(({ author }) => author))).toSorted();
  return { thanks: names.length === 0 ? "" : `Thanks to ${names.join(", ")}.` };
}

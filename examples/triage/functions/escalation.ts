import { ownersOf } from "./_owners.ts";

/** A line of code that a search found. */
interface Match {
  file: string;
  line: number;
  text: string;
}

interface EscalationInputs {
  title: string;
  severity: string;
  summary: string;
  matches: Match[];
}

const LISTED_MAX = 10;

/** What is sent to the owners of the code that a severe report is about. */
export function format_escalation({ title, severity, matches }: EscalationInputs): { text: string } {
  const owners = ownersOf(matches.map(({ file }) => file));
  const listed = matches.slice(0, LISTED_MAX).map(({ file, line, text }) => `- ${file}:${line} \`${text.trim().replaceAll("`", "'")}\``);
  const more = matches.length > LISTED_MAX ? [`- and ${matches.length - LISTED_MAX} more`] : [];
  const place = listed.length > 0 ? ["", "Code that the report points at:", "", ...listed, ...more] : ["", "No code of ours was found for it."];
  return {
    text: [`## Escalation`, "", `To: ${owners.join(", ") || "triage-rota"}`, `Answer expected within ${deadline(severity)}: ${title}`, ...place].join("\n"),
  };
}

function deadline(severity: string): string {
  return severity.toLowerCase() === "critical" ? "1 hour" : "1 working day";
}

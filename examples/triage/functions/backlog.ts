interface BacklogInputs {
  title: string;
  severity: string;
  summary: string;
  environment: Record<string, string>;
}

/** The backlog entry for a report that can wait. */
export function format_backlog({ title, severity, environment }: BacklogInputs): { text: string } {
  const facts = Object.entries(environment).map(([name, value]) => `- ${name}: ${value}`);
  const known = facts.length > 0 ? ["", "Environment:", "", ...facts] : [];
  return { text: ["## Backlog", "", `${title} (${severity}): to be looked at in the weekly triage.`, ...known].join("\n") };
}

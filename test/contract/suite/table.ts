import type { Scenario } from "./scenario.ts";

/** What is known of one scenario on one implementation in one topology; undefined where it could not be run on this machine. */
export type Mark = "passed" | "failed" | "known" | "lacks" | undefined;

export interface TableInput {
  readonly implementations: readonly { readonly name: string; readonly language: string }[];
  readonly scenarios: readonly Pick<Scenario, "group" | "name">[];
  readonly topologies: readonly string[];
  readonly markOf: (topology: string, scenario: string, implementation: string) => Mark;
  readonly knownFailures: readonly { readonly implementation: string; readonly scenario: string; readonly reason: string }[];
  /** Full names of methods that a client is without. */
  readonly missingMethods: ReadonlyMap<string, readonly string[]>;
}

const SIGNS: Readonly<Record<NonNullable<Mark>, string>> = { passed: "✓", failed: "✗", known: "✗", lacks: "–" };

/** The page docs/reference/contract.md. */
export function contractPage(input: TableInput): string {
  const { implementations, scenarios, topologies } = input;
  const groups = [...new Set(scenarios.map(({ group }) => group))];
  const lines = [
    "# The contract, and who keeps it",
    "",
    "<!-- Written by the contract suite: npm test -- --project system test/contract/matrix.spec.ts -u -->",
    "",
    "Each row is a promise of the session protocol, each column a client. One suite tries every promise on every client, with",
    `${topologies.join(" and with ")}.`,
    "",
    "- ✓ the promise is kept",
    "- ✗ it is not, and the reason is below",
    "- – it is not for this client: it lacks a method, or finds its server in a way that leaves nothing to break",
    "- two signs: the two ways to run the servers differ, in this order",
    "",
    "The clients:",
    "",
    ...clientLines(implementations),
  ];
  for (const group of groups) {
    lines.push("", `## ${group}`, "", `| the promise | ${implementations.map(({ name }) => name).join(" | ")} |`);
    lines.push(`|---|${implementations.map(() => ":-:|").join("")}`);
    for (const scenario of scenarios.filter((each) => each.group === group)) {
      lines.push(`| ${scenario.name} | ${implementations.map(({ name }) => cell(input, scenario.name, name)).join(" | ")} |`);
    }
  }
  lines.push("", "## Known failures", "", ...failureLines(input));
  lines.push("", "## Methods that a client lacks", "", ...lackLines(input), "");
  return lines.join("\n");
}

function clientLines(implementations: TableInput["implementations"]): string[] {
  const languages = [...new Set(implementations.map(({ language }) => language))];
  return languages.map((language) => {
    const names = implementations.filter((each) => each.language === language).map(({ name }) => `\`${name}\``);
    return `- ${language}: ${names.join(", ")}`;
  });
}

function cell({ topologies, markOf }: TableInput, scenario: string, implementation: string): string {
  const signs = topologies.map((topology) => {
    const mark = markOf(topology, scenario, implementation);
    return mark === undefined ? "?" : SIGNS[mark];
  });
  return new Set(signs).size === 1 ? (signs[0] as string) : signs.join(" ");
}

function failureLines({ knownFailures }: TableInput): string[] {
  if (knownFailures.length === 0) return ["None."];
  const promises = Map.groupBy(knownFailures, ({ scenario, reason }) => `${scenario}: ${reason}`);
  return [...promises].map(([what, failures]) => `- ${what} (${failures.map(({ implementation }) => `\`${implementation}\``).join(", ")})`);
}

function lackLines({ implementations, missingMethods }: TableInput): string[] {
  const lines = implementations.flatMap(({ name }) => {
    const missing = missingMethods.get(name) ?? [];
    return missing.length === 0 ? [] : [`- \`${name}\`: ${byService(missing)}`];
  });
  return lines.length === 0 ? ["None."] : lines;
}

/** Grouped, so that a whole service is one word. */
function byService(methods: readonly string[]): string {
  const services = Map.groupBy(methods, (method) => method.slice(method.lastIndexOf(".", method.indexOf("/")) + 1, method.indexOf("/")));
  return [...services].map(([service, names]) => `${service} (${names.map((name) => name.slice(name.indexOf("/") + 1)).join(", ")})`).join("; ");
}

import type { Row, Section, Unit } from "./row.ts";

const COLUMNS = ["what", "median", "min", "max", "unit", "ratio", "target", ""] as const;

/** Three digits that mean something; whole numbers from 100 on. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toString();
  return value.toPrecision(3);
}

function unitText(unit: Unit): string {
  return unit === "ratio" ? "" : unit;
}

function cells({ name, value, unit, ratio, target }: Row): string[] {
  return [
    name,
    formatNumber(value.median),
    formatNumber(value.min),
    formatNumber(value.max),
    unitText(unit),
    ratio === undefined ? "" : `${formatNumber(ratio.value)} of ${ratio.to}`,
    target?.text ?? "",
    target === undefined ? "" : target.isMet ? "met" : "not met",
  ];
}

/** For a terminal: columns of one width in all sections. */
export function formatText(sections: readonly Section[]): string {
  const table = sections.map(({ rows }) => rows.map(cells));
  const widths = COLUMNS.map((column, index) => Math.max(column.length, ...table.flat().map((row) => (row[index] ?? "").length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => (index > 0 && index < 4 ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0)))
      .join("  ")
      .trimEnd();
  return sections.map(({ title }, index) => [title, line(COLUMNS), ...(table[index] ?? []).map(line), ""].join("\n")).join("\n");
}

/** For the page. */
export function formatMarkdown(sections: readonly Section[]): string {
  const line = (row: readonly string[]): string => `| ${row.join(" | ")} |`;
  return sections
    .map(({ title, note, rows }) =>
      [`### ${title}`, "", note, "", line(COLUMNS), "|---|--:|--:|--:|---|---|---|---|", ...rows.map((row) => line(cells(row))), ""].join("\n"),
    )
    .join("\n");
}

/** What falls short, in sentences; says so too where nothing does. */
export function formatShortfalls(sections: readonly Section[]): string {
  const missed = sections.flatMap(({ rows }) => rows.filter(({ target }) => target?.isMet === false));
  if (missed.length === 0) return "Every target was met in this run.";
  const items = missed.map(({ name, value, unit, ratio, target }) => {
    const measured = ratio === undefined ? `${formatNumber(value.median)} ${unitText(unit)}`.trim() : `${formatNumber(ratio.value)} of ${ratio.to}`;
    return `- ${name}: ${measured}, and the target is ${target?.text ?? ""}.`;
  });
  return ["In this run these fell short:", "", ...items].join("\n");
}

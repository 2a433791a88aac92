export type Row = Record<string, string | number | null>;

/** A table as CSV (RFC 4180). */
export function exportTable(rows: readonly Row[], separator = ","): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => formatCell(row[name] ?? "")))];
  return lines.map((cells) => cells.join(separator)).join("\r\n");
}

/** Quotes what would be taken for a separator. */
function formatCell(value: string | number): string {
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

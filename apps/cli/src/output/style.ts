import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

/** Colours, or none. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** Text as it is. */
export const PLAIN: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Text with ANSI colours. */
export const COLOURED: Style = { bold: as("bold"), dim: as("dim"), red: as("red"), green: as("green"), yellow: as("yellow"), cyan: as("cyan") };

function same(text: string): string {
  return text;
}

function as(format: Format): (text: string) => string {
  return (text) => styleText(format, text, { validateStream: false });
}

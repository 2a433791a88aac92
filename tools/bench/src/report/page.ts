import type { Machine } from "../machine.ts";
import { formatMarkdown, formatShortfalls } from "./format.ts";
import type { Section } from "./row.ts";

const BEGIN = "<!-- measured: begin. Written by `npm run bench`. -->";
const END = "<!-- measured: end -->";

/** The page with what lies between its markers replaced. Throws where it has no markers. */
export function replaceMeasured(page: string, measured: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page has no lines "${BEGIN}" and "${END}" to write between`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${measured.trim()}\n\n${page.slice(end)}`;
}

export function measuredMarkdown(machine: Machine, sections: readonly Section[]): string {
  const facts = Object.entries(machine).map(([name, value]) => `| ${name} | ${value} |`);
  return ["| machine | |", "|---|---|", ...facts, "", formatShortfalls(sections), "", formatMarkdown(sections)].join("\n");
}

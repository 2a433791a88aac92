import type { Machine } from "../machine.ts";
import { formatMarkdown, formatShortfalls } from "./format.ts";
import type { Section } from "./row.ts";

/** Between which lines of the page something is written. */
export interface Markers {
  readonly begin: string;
  readonly end: string;
}

export const MEASURED: Markers = { begin: "<!-- measured: begin. Written by `npm run bench`. -->", end: "<!-- measured: end -->" };
export const AGENT_LOOP: Markers = { begin: "<!-- agent: begin. Written by `npm run bench -- --agent`. -->", end: "<!-- agent: end -->" };
export const UNDER_LOAD: Markers = { begin: "<!-- load: begin. Written by `npm run bench -- --load`. -->", end: "<!-- load: end -->" };
export const BESIDE_PEERS: Markers = { begin: "<!-- peers: begin. Written by `npm run bench -- --peers`. -->", end: "<!-- peers: end -->" };

/** The page with what lies between its markers replaced. Throws where it has no markers. */
export function replaceMeasured(page: string, measured: string, markers: Markers = MEASURED): string {
  const begin = page.indexOf(markers.begin);
  const end = page.indexOf(markers.end);
  if (begin < 0 || end < begin) throw new Error(`the page has no lines "${markers.begin}" and "${markers.end}" to write between`);
  return `${page.slice(0, begin + markers.begin.length)}\n\n${measured.trim()}\n\n${page.slice(end)}`;
}

/** `versions`: of what it was measured beside. */
export function measuredMarkdown(machine: Machine, sections: readonly Section[], versions: Readonly<Record<string, string>> = {}): string {
  const facts = Object.entries({ ...machine, ...versions }).map(([name, value]) => `| ${name} | ${value} |`);
  return ["| machine | |", "|---|---|", ...facts, "", formatShortfalls(sections), "", formatMarkdown(sections)].join("\n");
}

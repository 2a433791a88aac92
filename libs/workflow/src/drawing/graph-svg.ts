import { StepStatus } from "@forge/protocol/workflow";
import { escapeHtml, shorten } from "./html-text.ts";
import { END, type GraphEdge, type GraphNode, type RunGraph } from "./run-graph.ts";

const ROW = 76;
const TOP = 16;
const LEFT = 40;
const WIDTH = 300;
const HEIGHT = 44;
/** Ways that jump run beside the steps, each in a lane of its own as far as there are lanes. */
const LANE = 18;
const LANES_MAX = 12;
const LABEL_MAX = 60;

/** The workflow as a picture: steps from top to bottom in the order of the definition, the ways that were taken drawn solid. */
export function graphSvg({ nodes, edges }: RunGraph): string {
  const rows = new Map([...nodes.map(({ id }, index) => [id, index] as const), [END, nodes.length] as const]);
  const jumps = edges.filter((edge) => !isNext(edge, rows));
  const lanes = Math.min(jumps.length, LANES_MAX);
  const width = LEFT + WIDTH + 24 + lanes * LANE + 360;
  const height = TOP + (nodes.length + 1) * ROW;
  const drawn = [
    ...edges.filter((edge) => isNext(edge, rows)).map((edge) => straight(edge, rows)),
    ...jumps.map((edge, index) => curved(edge, rows, index % LANES_MAX)),
    ...nodes.map((node, index) => nodeBox(node, index)),
    endMark(nodes.length),
  ];
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The workflow's graph">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="head"/></marker></defs>
${drawn.join("\n")}
</svg>`;
}

function isNext(edge: GraphEdge, rows: ReadonlyMap<string, number>): boolean {
  return rows.get(edge.to) === (rows.get(edge.from) ?? 0) + 1;
}

function top(row: number): number {
  return TOP + row * ROW;
}

function way(edge: GraphEdge, path: string, x: number, y: number): string {
  const text = edge.source === "sequence" ? "" : edge.source === "default" ? "otherwise" : edge.when;
  const times = edge.taken > 1 ? ` ×${edge.taken}` : "";
  const label = `${shorten(text, LABEL_MAX)}${times}`;
  return `<g class="way${edge.taken > 0 ? " taken" : ""}"><title>${escapeHtml(`${edge.from} → ${edge.to}: ${edge.source}${text === "" ? "" : `, ${text}`}`)}</title><path d="${path}" marker-end="url(#arrow)"/>${
    label === "" ? "" : `<text x="${x}" y="${y}">${escapeHtml(label)}</text>`
  }</g>`;
}

function straight(edge: GraphEdge, rows: ReadonlyMap<string, number>): string {
  const y = top(rows.get(edge.from) ?? 0) + HEIGHT;
  const x = LEFT + 40;
  return way(edge, `M${x} ${y}V${y + ROW - HEIGHT - 1}`, x + 10, y + 20);
}

function curved(edge: GraphEdge, rows: ReadonlyMap<string, number>, lane: number): string {
  const from = top(rows.get(edge.from) ?? 0) + HEIGHT / 2 + 8;
  const to = top(rows.get(edge.to) ?? rows.size - 1) + HEIGHT / 2 - 8;
  const right = LEFT + WIDTH;
  const x = right + 24 + lane * LANE;
  return way(
    edge,
    `M${right} ${from}H${x - 8}Q${x} ${from} ${x} ${from + Math.sign(to - from) * 8}V${to - Math.sign(to - from) * 8}Q${x} ${to} ${x - 8} ${to}H${right + 1}`,
    x + 8,
    from + 14,
  );
}

const CLASSES: Readonly<Record<StepStatus, string>> = {
  [StepStatus.UNSPECIFIED]: "",
  [StepStatus.RUNNING]: "running",
  [StepStatus.RETRYING]: "running",
  [StepStatus.COMPLETED]: "completed",
  [StepStatus.FAILED]: "failed",
  [StepStatus.CANCELLED]: "cancelled",
};

function nodeBox({ id, type, executions }: GraphNode, row: number): string {
  const y = top(row);
  const last = executions.at(-1);
  const times = executions.length > 1 ? `, ${executions.length} times` : "";
  return `<g class="step ${last === undefined ? "unreached" : CLASSES[last.status]}"><title>${escapeHtml(id)}</title><rect x="${LEFT}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="6"/><text x="${LEFT + 14}" y="${y + 19}" class="name">${escapeHtml(shorten(id, 34))}</text><text x="${LEFT + 14}" y="${y + 35}" class="type">${escapeHtml(type)}${last === undefined ? ", not reached" : times}</text></g>`;
}

function endMark(row: number): string {
  return `<g class="end"><circle cx="${LEFT + 40}" cy="${top(row) + HEIGHT / 2 - 8}" r="9"/><text x="${LEFT + 60}" y="${top(row) + HEIGHT / 2 - 3}">end</text></g>`;
}

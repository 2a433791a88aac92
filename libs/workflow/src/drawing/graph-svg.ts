import { escapeHtml, shorten } from "./html-text.ts";
import { needsSvg } from "./needs-svg.ts";
import { nodeBox } from "./node-box.ts";
import { END, type GraphEdge, type RunGraph } from "./run-graph.ts";

const ROW = 92;
const TOP = 16;
const LEFT = 40;
const WIDTH = 300;
const HEIGHT = 60;
/** Ways that jump run beside the steps, each in a lane of its own as far as there are lanes. */
const LANE = 18;
const LANES_MAX = 12;
const LABEL_MAX = 60;

/** The workflow as a picture from top to bottom, the ways that were taken drawn solid. */
export function graphSvg(graph: RunGraph): string {
  return graph.isGraph ? needsSvg(graph) : sequenceSvg(graph);
}

/** Steps in the order of the definition. */
function sequenceSvg({ nodes, edges }: RunGraph): string {
  const rows = new Map([...nodes.map(({ id }, index) => [id, index] as const), [END, nodes.length] as const]);
  const jumps = edges.filter((edge) => !isNext(edge, rows));
  const lanes = Math.min(jumps.length, LANES_MAX);
  const labelRows = placesAmong(jumps);
  const width = LEFT + WIDTH + 24 + lanes * LANE + 360;
  const height = TOP + nodes.length * ROW + 44;
  const drawn = [
    ...edges.filter((edge) => isNext(edge, rows)).map((edge) => straight(edge, rows)),
    ...jumps.map((edge, index) => curved(edge, rows, index % LANES_MAX, { x: LEFT + WIDTH + 24 + lanes * LANE, row: labelRows[index] ?? 0 })),
    ...nodes.map((node, index) => nodeBox(node, { x: LEFT, y: top(index), width: WIDTH, height: HEIGHT })),
    endMark(nodes.length),
  ];
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The workflow's graph">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto"><path d="M0 0L8 4L0 8z" class="head"/></marker></defs>
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

/** Of each jump, how many jumps of the same step come before it. */
function placesAmong(jumps: readonly GraphEdge[]): number[] {
  const counts = new Map<string, number>();
  return jumps.map(({ from }) => {
    const before = counts.get(from) ?? 0;
    counts.set(from, before + 1);
    return before;
  });
}

/** Labels stand right of all lanes, those of one step below each other. */
function curved(edge: GraphEdge, rows: ReadonlyMap<string, number>, lane: number, label: { readonly x: number; readonly row: number }): string {
  const from = top(rows.get(edge.from) ?? 0) + HEIGHT / 2 + 8;
  const to = top(rows.get(edge.to) ?? rows.size - 1) + HEIGHT / 2 - 8;
  const right = LEFT + WIDTH;
  const x = right + 24 + lane * LANE;
  return way(
    edge,
    `M${right} ${from}H${x - 8}Q${x} ${from} ${x} ${from + Math.sign(to - from) * 8}V${to - Math.sign(to - from) * 8}Q${x} ${to} ${x - 8} ${to}H${right + 1}`,
    label.x,
    from - 6 + label.row * 15,
  );
}

function endMark(row: number): string {
  return `<g class="end"><circle cx="${LEFT + 40}" cy="${top(row) + HEIGHT / 2 - 8}" r="9"/><text x="${LEFT + 60}" y="${top(row) + HEIGHT / 2 - 3}">end</text></g>`;
}

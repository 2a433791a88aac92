import { escapeHtml } from "./html-text.ts";
import { layOut, type Place } from "./layers.ts";
import { nodeBox } from "./node-box.ts";
import { END, type GraphEdge, type GraphNode, type RunGraph } from "./run-graph.ts";

const WIDTH = 290;
const HEIGHT = 60;
const ROW = 108;
const MARGIN = 24;
const WIDTHS = { node: WIDTH + 26, bend: 26 };

/** A workflow whose steps need each other, in layers from top to bottom. */
export function needsSvg({ nodes, edges }: RunGraph): string {
  const { places, ways, count, width } = layOut([...nodes.map(({ id }) => id), END], edges, WIDTHS);
  const x = ({ x: middle }: Place): number => MARGIN + middle;
  const y = ({ layer }: Place): number => MARGIN + layer * ROW;
  const drawn = [
    ...edges.map((edge, index) =>
      way(
        edge,
        (ways[index] ?? []).map((place) => ({ x: x(place), y: y(place) })),
      ),
    ),
    ...nodes.map((node) => box(node, places.get(node.id) as Place)),
    endMark(places.get(END) as Place),
  ];
  return svg(Math.ceil(width) + 2 * MARGIN, 2 * MARGIN + (count - 1) * ROW + 20, drawn);

  function box(node: GraphNode, place: Place): string {
    return nodeBox(node, { x: x(place) - WIDTH / 2, y: y(place), width: WIDTH, height: HEIGHT });
  }

  function endMark(place: Place): string {
    return `<g class="end"><circle cx="${x(place)}" cy="${y(place) + 10}" r="9"/><text x="${x(place) + 16}" y="${y(place) + 15}">end</text></g>`;
  }
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** From the foot of one box to the head of another, past what lies between. */
function way({ from, to, taken }: GraphEdge, points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined) return "";
  let at = { x: first.x, y: first.y + HEIGHT };
  let path = `M${at.x} ${at.y}`;
  for (const [index, point] of others.entries()) {
    const isLast = index === others.length - 1;
    const head = { x: point.x, y: isLast ? point.y - 1 : point.y };
    const half = (at.y + head.y) / 2;
    path += at.x === head.x ? `V${head.y}` : `C${at.x} ${half} ${head.x} ${half} ${head.x} ${head.y}`;
    at = head;
    if (isLast) continue;
    // Straight past the layer's boxes.
    at = { x: head.x, y: point.y + HEIGHT };
    path += `V${at.y}`;
  }
  return `<g class="way${taken > 0 ? " taken" : ""}"><title>${escapeHtml(`${from} → ${to}`)}</title><path d="${path}" marker-end="url(#arrow)"/></g>`;
}

function svg(width: number, height: number, drawn: readonly string[]): string {
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The workflow's graph">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto"><path d="M0 0L8 4L0 8z" class="head"/></marker></defs>
${drawn.join("\n")}
</svg>`;
}

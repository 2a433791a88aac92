/** A way between two nodes. */
interface Way {
  readonly from: string;
  readonly to: string;
}

/** A node's place, or a bend of a way that leads past a layer: `x` counts from the left in the caller's units, `layer` from the top. */
export interface Place {
  readonly layer: number;
  readonly x: number;
}

/** Nodes in layers, from top to bottom. */
export interface Layers {
  readonly places: ReadonlyMap<string, Place>;
  /** By way, in the order given: the places from one end to the other. */
  readonly ways: readonly (readonly Place[])[];
  readonly count: number;
  readonly width: number;
}

/** How wide a node and a bend are, gaps included. */
export interface Widths {
  readonly node: number;
  readonly bend: number;
}

/** Bends in all; a graph with more is drawn with straight ways. */
const BENDS_MAX = 5_000;
/** Times that layers are put in order after their neighbours. */
const SWEEPS = 4;

interface Slot {
  readonly key: string;
  readonly width: number;
  readonly up: Slot[];
  readonly down: Slot[];
  order: number;
  x: number;
}

/** Puts nodes into layers, each below all that lead to it, and long ways past the nodes between (after Sugiyama, Tagawa and Toda). The ways have no cycle. */
export function layOut(ids: readonly string[], ways: readonly Way[], widths: Widths): Layers {
  const depths = depthsOf(ids, ways);
  const count = 1 + Array.from(depths.values()).reduce((most, depth) => Math.max(most, depth), 0);
  const layers: Slot[][] = Array.from({ length: count }, () => []);
  const put = (key: string, layer: number, width: number): Slot => {
    const slots = layers[layer] as Slot[];
    const slot: Slot = { key, width, up: [], down: [], order: slots.length, x: 0 };
    slots.push(slot);
    return slot;
  };
  const nodes = new Map(ids.map((id) => [id, put(id, depths.get(id) ?? 0, widths.node)]));
  const bends = ways.reduce((sum, { from, to }) => sum + (depths.get(to) ?? 0) - (depths.get(from) ?? 0) - 1, 0);
  const chains = ways.map(({ from, to }, index) => {
    const [first, last] = [depths.get(from) ?? 0, depths.get(to) ?? 0];
    const between =
      bends > BENDS_MAX ? [] : Array.from({ length: Math.max(0, last - first - 1) }, (_, step) => put(`${index}:${step}`, first + 1 + step, widths.bend));
    const chain = [nodes.get(from), ...between, nodes.get(to)].filter((slot) => slot !== undefined);
    for (const [position, slot] of chain.entries()) {
      const below = chain[position + 1];
      if (below === undefined) continue;
      slot.down.push(below);
      below.up.push(slot);
    }
    return { chain, first, last };
  });
  arrange(layers);
  const width = place(layers);
  const layerOf = new Map(layers.flatMap((slots, layer) => slots.map((slot) => [slot, layer] as const)));
  const placeOf = (slot: Slot): Place => ({ layer: layerOf.get(slot) ?? 0, x: slot.x });
  return {
    places: new Map(Array.from(nodes, ([id, slot]) => [id, placeOf(slot)])),
    ways: chains.map(({ chain }) => chain.map(placeOf)),
    count,
    width,
  };
}

/** The longest way to each node. */
function depthsOf(ids: readonly string[], ways: readonly Way[]): Map<string, number> {
  const leading = Map.groupBy(ways, ({ to }) => to);
  const left = new Map(ids.map((id) => [id, leading.get(id)?.length ?? 0]));
  const following = Map.groupBy(ways, ({ from }) => from);
  const depths = new Map(ids.map((id) => [id, 0]));
  const open = ids.filter((id) => left.get(id) === 0);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const { to } of following.get(id) ?? []) {
      depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(id) ?? 0) + 1));
      const rest = (left.get(to) ?? 1) - 1;
      left.set(to, rest);
      if (rest === 0) open.push(to);
    }
  }
  return depths;
}

/** Each layer in the order of its neighbours' middles, downwards and upwards in turn: fewer ways cross. */
function arrange(layers: readonly Slot[][]): void {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const slots of isDown ? layers : layers.toReversed()) {
      const middles = new Map(slots.map((slot) => [slot, middle(isDown ? slot.up : slot.down, slot.order, (other) => other.order)]));
      slots.sort((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0) || a.order - b.order);
      for (const [order, slot] of slots.entries()) slot.order = order;
    }
  }
}

/** Places each slot below the middle of those above it, as far as its left neighbour leaves room, and gives the whole width. */
function place(layers: readonly Slot[][]): number {
  for (const slots of layers) {
    let free = 0;
    for (const slot of slots) {
      const wanted = middle(slot.up, free + slot.width / 2, (other) => other.x);
      slot.x = Math.max(free + slot.width / 2, wanted);
      free = slot.x + slot.width / 2;
    }
  }
  // From below: what leads to something far right comes nearer, where nothing stands in its way.
  for (const slots of layers.toReversed()) {
    let free = Number.POSITIVE_INFINITY;
    for (const slot of slots.toReversed()) {
      const wanted = middle(slot.down, slot.x, (other) => other.x);
      slot.x = Math.max(slot.x, Math.min(wanted, free - slot.width / 2));
      free = slot.x - slot.width / 2;
    }
  }
  const all = layers.flat();
  const left = all.reduce((least, { x, width }) => Math.min(least, x - width / 2), Number.POSITIVE_INFINITY);
  for (const slot of all) slot.x -= left;
  return all.reduce((right, { x, width }) => Math.max(right, x + width / 2), 0);
}

function middle(slots: readonly Slot[], otherwise: number, of: (slot: Slot) => number): number {
  return slots.length === 0 ? otherwise : slots.reduce((sum, slot) => sum + of(slot), 0) / slots.length;
}

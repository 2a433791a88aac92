import { ForgeError } from "../forge-error.ts";
import { type Entry, EntryType } from "../gen/forge/workspace/v1/workspace_pb.ts";
import { shown } from "./shown.ts";

/** A kernel follows no more than these. */
const CHAIN_MAX = 40;

interface Node {
  /** Of the root: none. */
  readonly parent: Node | undefined;
  readonly children: Map<string, Node>;
  readonly link: Link | undefined;
}

interface Link {
  readonly path: string;
  readonly target: string;
  readonly field: string;
  /** Where it ends; `open` while that is looked for. */
  end: End | "open" | undefined;
}

/** A place in the tree, or so many names below it that are not there. A loop ends nowhere. */
interface End {
  readonly place: { readonly node: Node; readonly missing: number } | "loop";
  /** Links on the way that follow one another, this one included. */
  readonly chain: number;
}

/** Refuses links that lead out of the directory: by themselves, or by the links that they go through. Each link is looked at once. Errors: validation. */
export function checkLinks(entries: readonly Entry[]): void {
  if (!entries.some(({ type }) => type === EntryType.SYMLINK)) return;
  const root: Node = { parent: undefined, children: new Map(), link: undefined };
  const links: { readonly link: Link; readonly directory: Node }[] = [];
  const directories = new Map([["", root]]);
  for (const [index, { path, type, target }] of entries.entries()) {
    const slash = path.lastIndexOf("/");
    const parent = directories.get(path.slice(0, Math.max(0, slash))) as Node;
    const link: Link | undefined = type === EntryType.SYMLINK ? { path, target, field: `manifest.entries[${index}].target`, end: undefined } : undefined;
    const node: Node = { parent, children: new Map(), link };
    parent.children.set(path.slice(slash + 1), node);
    if (type === EntryType.DIRECTORY) directories.set(path, node);
    if (link !== undefined) links.push({ link, directory: parent });
  }
  for (const { link, directory } of links) endOf(link, directory, 1);
}

/** `depth`: links that lead here, this one included. */
function endOf(link: Link, directory: Node, depth: number): End {
  if (link.end === "open") return { place: "loop", chain: 0 };
  if (link.end !== undefined) return link.end;
  // Asked before it goes deeper, so that a long chain takes no deep stack.
  if (depth > CHAIN_MAX) throw tooLong(link);
  link.end = "open";
  const end = follow(link, directory, depth);
  if (end.chain > CHAIN_MAX) throw tooLong(link);
  link.end = end;
  return end;
}

function follow(link: Link, directory: Node, depth: number): End {
  if (link.target.startsWith("/")) throw leadsOut(link);
  // Where a backslash separates, it must not lead out either; elsewhere it is a part of a name.
  if (link.target.includes("\\") && link.target.split(/[/\\]/).includes("..")) throw leadsOut(link);
  let [node, missing, chain] = [directory, 0, 1];
  for (const part of link.target.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (missing > 0) {
        missing--;
        continue;
      }
      if (node.parent === undefined) throw leadsOut(link);
      node = node.parent;
      continue;
    }
    const child = missing > 0 ? undefined : node.children.get(part);
    if (child === undefined) {
      missing++;
      continue;
    }
    node = child;
    if (child.link === undefined) continue;
    const end = endOf(child.link, child.parent as Node, depth + 1);
    chain = Math.max(chain, end.chain + 1);
    if (end.place === "loop") return { place: "loop", chain };
    ({ node, missing } = end.place);
  }
  return { place: { node, missing }, chain };
}

function tooLong({ field, path }: Link): ForgeError {
  return ForgeError.validation(field, `the link ${shown(path)} goes through more than ${CHAIN_MAX} links that follow one another`);
}

function leadsOut({ field, path, target }: Link): ForgeError {
  return ForgeError.validation(field, `the link ${shown(path)} leads out of the directory, to ${shown(target)}`);
}

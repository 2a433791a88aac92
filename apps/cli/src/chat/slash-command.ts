/** What a line in a chat means. */
export type ChatLine =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "pause" | "continue" }
  | { readonly kind: "fork"; readonly seq: bigint }
  | { readonly kind: "compact"; readonly summary: string }
  | { readonly kind: "wrong"; readonly why: string };

const HELP = "There are /pause, /continue, /fork [seq] and /compact <summary>. A line that begins with // is said with one of them.";

/** A line that begins with a slash is a command; with two it is said, without the first. */
export function parseChatLine(line: string): ChatLine {
  if (line.startsWith("//")) return { kind: "say", text: line.slice(1) };
  const match = /^\/(\S*)\s*([\s\S]*)$/u.exec(line.trim());
  if (match === null) return { kind: "say", text: line };
  const [, name, rest = ""] = match;
  switch (name) {
    case "pause":
    case "continue":
      return rest === "" ? { kind: name } : { kind: "wrong", why: `/${name} takes nothing more.` };
    case "fork":
      return /^\d{0,15}$/.test(rest)
        ? { kind: "fork", seq: BigInt(rest || 0) }
        : { kind: "wrong", why: "/fork takes the seq of an event, or nothing for the newest." };
    case "compact":
      return rest === "" ? { kind: "wrong", why: "/compact takes the summary that is to stand for the conversation." } : { kind: "compact", summary: rest };
    default:
      return { kind: "wrong", why: HELP };
  }
}

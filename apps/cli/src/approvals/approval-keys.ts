import { ApprovalScope } from "@forge/protocol/tool";

/** What a person's answer to a call means. */
export type ApprovalKey =
  | { readonly kind: "allow" }
  | { readonly kind: "grant"; readonly scope: typeof ApprovalScope.TURN | typeof ApprovalScope.SESSION }
  | { readonly kind: "deny"; readonly comment: string; readonly stops: boolean }
  | { readonly kind: "edit" | "view" | "unclear" };

/** What may be answered; fits on a line of 80 columns. */
export const APPROVAL_KEYS = "[a]llow [t]urn [s]ession [e]dit [v]iew [d]eny [D]eny+stop, or why not";

const DENIAL = /^(d|n|no|deny)(?:\s+(.*))?$/s;
const STOP = /^(?:D|stop)(?:\s+(.*))?$/s;

/** Only what clearly allows allows; Enter alone and single letters that mean nothing are asked again, and every other text is why not. */
export function approvalKey(typed: string): ApprovalKey {
  const said = typed.trim();
  if (/^(?:a|y|yes|allow)$/i.test(said)) return { kind: "allow" };
  if (/^(?:t|turn)$/i.test(said)) return { kind: "grant", scope: ApprovalScope.TURN };
  if (/^(?:s|session)$/i.test(said)) return { kind: "grant", scope: ApprovalScope.SESSION };
  if (/^(?:e|edit)$/i.test(said)) return { kind: "edit" };
  if (/^(?:v|view)$/i.test(said)) return { kind: "view" };
  const stop = STOP.exec(said);
  if (stop !== null) return { kind: "deny", comment: stop[1] ?? "", stops: true };
  const denial = DENIAL.exec(said);
  if (denial !== null) return { kind: "deny", comment: denial[2] ?? "", stops: false };
  return said.length <= 1 ? { kind: "unclear" } : { kind: "deny", comment: said, stops: false };
}

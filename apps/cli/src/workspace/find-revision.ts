import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ProjectLink } from "../server/project-link.ts";

/** What lists show of an id on a terminal. */
export const SHORT_ID_LENGTH = 12;
const ID_LENGTH = 64;
const BEGINNING_LENGTH_MIN = 6;
const PAGE_SIZE = 500;
/** Older revisions are found by their whole id. */
const SEARCHED_MAX = 10_000;

/** The whole id of a revision, of which at least six characters may be given. Errors: validation, also where several begin so; not_found. */
export async function findRevisionId(link: ProjectLink, given: string): Promise<string> {
  if (!new RegExp(`^[0-9a-f]{${BEGINNING_LENGTH_MIN},${ID_LENGTH}}$`).test(given)) {
    throw ForgeError.validation("revision_id", `${given.slice(0, 80)} is no revision's id: \`forge workspace list\` shows them`);
  }
  if (given.length === ID_LENGTH) return given;
  const found: string[] = [];
  let searched = 0;
  for (let pageToken = ""; searched < SEARCHED_MAX; ) {
    const page = await link.call((client) => client.workspace.listRevisions({ pageSize: PAGE_SIZE, pageToken }));
    found.push(...page.revisions.map(({ revisionId }) => revisionId).filter((id) => id.startsWith(given)));
    searched += page.revisions.length;
    if (page.nextPageToken === "") break;
    pageToken = page.nextPageToken;
  }
  const [only, ...others] = found;
  if (only === undefined)
    throw new ForgeError(ErrorCode.NOT_FOUND, `there is no revision ${given}: \`forge workspace list\` shows them`, { relatedIds: [given] });
  if (others.length > 0) {
    throw ForgeError.validation("revision_id", `${found.length} revisions begin with ${given}: write more of the id (${found.slice(0, 5).join(", ")})`, {
      relatedIds: found.slice(0, 5),
    });
  }
  return only;
}

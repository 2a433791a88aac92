import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { checkDefinition } from "@forge/domain";
import { type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  type GetDefinitionRequest,
  type GetDefinitionResponse,
  GetDefinitionResponseSchema,
  type ListDefinitionsRequest,
  type ListDefinitionsResponse,
  ListDefinitionsResponseSchema,
  type RegisterDefinitionRequest,
  type RegisterDefinitionResponse,
  RegisterDefinitionResponseSchema,
  type RegisteredDefinition,
  RegisteredDefinitionSchema,
  type WorkflowDefinition,
  WorkflowDefinitionSchema,
} from "@forge/protocol/workflow";
import type { Store, StoredDefinition } from "../ports/index.ts";
import { artifactsIn } from "../stream/artifacts-of.ts";
import { deriveId, sha256Hex } from "../stream/identity.ts";
import { checkNoNul, checkPageSize } from "./check.ts";

const REFERENCE_LENGTH_MAX = 257;

/** Keeps a definition. Errors: validation; conflict, DEFINITION_EXISTS. */
export async function registerDefinition(store: Store, request: RegisterDefinitionRequest, call: Call): Promise<RegisterDefinitionResponse> {
  checkText(request);
  const checked = checkDefinition(request.definition, { sha256: sha256Hex });
  if ("rejection" in checked) throw ForgeError.from(checked.rejection);
  const { definition, hash } = checked;
  const { id, version } = definition;
  const saved = await store.saveDefinition(
    call.namespace,
    { id, version, hash, createdBy: call.principal },
    {
      bytes: toBinary(WorkflowDefinitionSchema, definition),
      artifacts: artifactsIn(WorkflowDefinitionSchema, definition),
      referenceId: deriveId(call.namespace, "definition", id, version),
    },
  );
  if (saved.hash !== hash) {
    throw new ForgeError(
      ErrorCode.CONFLICT,
      `workflow ${id}@${version} is registered with other content, and a version never changes: give this one another version`,
      { reason: "DEFINITION_EXISTS", metadata: { workflow_hash: saved.hash } },
    );
  }
  return create(RegisterDefinitionResponseSchema, { registered: registered(saved) });
}

/** Errors: validation; not_found, DEFINITION_NOT_FOUND. */
export async function getDefinition(store: Store, request: GetDefinitionRequest, { namespace }: Call): Promise<GetDefinitionResponse> {
  const found = await find(store, namespace, request.workflow);
  return create(GetDefinitionResponseSchema, { registered: registered(found, fromBinary(WorkflowDefinitionSchema, found.bytes)) });
}

/** Errors: validation. */
export async function listDefinitions(store: Store, request: ListDefinitionsRequest, { namespace }: Call): Promise<ListDefinitionsResponse> {
  const limit = checkPageSize(request.pageSize);
  checkNoNul(request.workflowId, "workflow_id", REFERENCE_LENGTH_MAX);
  const after = parseToken(request.pageToken);
  const rows = await store.listDefinitions(namespace, {
    limit,
    ...(request.workflowId === "" ? {} : { id: request.workflowId }),
    ...(after === undefined ? {} : { after }),
  });
  const last = rows.at(-1);
  return create(ListDefinitionsResponseSchema, {
    definitions: rows.map((row) => registered(row)),
    nextPageToken: rows.length === limit && last !== undefined ? Buffer.from(JSON.stringify([last.id, last.version])).toString("base64url") : "",
  });
}

/** What a run by name is started of. Errors: validation; not_found, DEFINITION_NOT_FOUND. */
export async function resolveDefinition(store: Store, namespace: string, workflow: string): Promise<WorkflowDefinition> {
  return fromBinary(WorkflowDefinitionSchema, (await find(store, namespace, workflow)).bytes);
}

async function find(store: Store, namespace: string, workflow: string) {
  if (workflow === "") throw ForgeError.validation("workflow", "workflow is missing: name a registered definition as id or id@version");
  checkNoNul(workflow, "workflow", REFERENCE_LENGTH_MAX);
  const at = workflow.lastIndexOf("@");
  const [id, version] = at === -1 ? [workflow, undefined] : [workflow.slice(0, at), workflow.slice(at + 1)];
  const found = await store.findDefinition(namespace, id, version);
  if (found !== undefined) return found;
  const what = version === undefined ? `no version of workflow ${id} is registered` : `workflow ${workflow} is not registered`;
  throw new ForgeError(ErrorCode.NOT_FOUND, `${what}: ListDefinitions tells which are`, { reason: "DEFINITION_NOT_FOUND" });
}

function registered(row: StoredDefinition, definition?: WorkflowDefinition): RegisteredDefinition {
  return create(RegisteredDefinitionSchema, {
    workflowId: row.id,
    workflowVersion: row.version,
    workflowHash: row.hash,
    createdAt: timestampFromMs(row.createdAtMs),
    createdBy: row.createdBy,
    definition,
  });
}

function parseToken(token: string): Pick<StoredDefinition, "id" | "version"> | undefined {
  if (token === "") return undefined;
  const match = /^\["([A-Za-z0-9_-]{1,128})","(v[0-9.]{1,64})"\]$/.exec(Buffer.from(token, "base64url").toString());
  if (match === null) throw ForgeError.validation("page_token", "page_token is none that this server gave: begin again without it");
  return { id: match[1] as string, version: match[2] as string };
}

import path from "node:path";
import { type ConfigField, type ConfigOrigin, type ConfigOverride, explainConfig, type Project } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { table } from "../output/table.ts";
import { oneLine } from "../output/text.ts";
import { openNamedProject } from "../project/open-named-project.ts";

/** `forge config`: every field of the configuration, its value, and where that comes from. Secrets are told by whether they are set. */
export async function configCommand(context: Context, options: ServerOptions): Promise<number> {
  const { terminal, directory } = context;
  const project = await openNamedProject(context, options.project);
  const fields = explainConfig(project, overridesOf(context, options, project));
  for (const warning of project.warnings) terminal.note(`${terminal.errorStyle.yellow("warning:")} ${warning}`);
  if (options.json === true) {
    for (const { name, value, origin, isUsed } of fields) terminal.print(JSON.stringify({ name, value, origin, used: isUsed }));
    return EXIT.OK;
  }
  const columns = [{ title: "FIELD" }, { title: "VALUE", shrinks: true }, { title: "FROM" }, { title: "" }];
  const rows = fields.map((field) => [field.name, valueText(field), originText(field.origin, directory), field.isUsed ? "" : "not used yet"]);
  const [titles = "", ...lines] = table(columns, rows, terminal.columns());
  for (const line of [terminal.style.dim(titles), ...lines]) terminal.print(line);
  return EXIT.OK;
}

/** What is said by options and by the environment. */
function overridesOf({ environment }: Context, options: ServerOptions, { root, placeOf, dataDir }: Project): Record<string, ConfigOverride> {
  const place = placeOf("db_path");
  const isDefault = place === undefined || dataDir === path.join(root, ".forge", "data");
  const dataOrigin: ConfigOrigin = isDefault ? { kind: "default" } : { kind: "file", ...place };
  const overrides: Record<string, ConfigOverride> = {
    project: {
      value: root,
      origin: options.project === undefined ? { kind: "default" } : { kind: "flag", name: "--project" },
    },
    data_directory: { value: dataDir, origin: dataOrigin },
  };
  const fromEnvironment: readonly (readonly [field: string, variable: string, isSecret?: boolean])[] = [
    ["db_path", "DATABASE_URL"],
    ["db_direct_url", "DATABASE_DIRECT_URL"],
    ["llm.providers.openai.base_url", "OPENAI_BASE_URL"],
    ["llm.providers.ollama.base_url", "OLLAMA_BASE_URL"],
    ["llm.providers.openai.api_key", "OPENAI_API_KEY", true],
    ["url", "FORGE_URL"],
    ["namespace", "FORGE_NAMESPACE"],
    ["token", "FORGE_TOKEN", true],
    ["foreground", "CI"],
    ["overlay", "RUNTIME_ENV"],
  ];
  for (const [field, name, isSecret = false] of fromEnvironment) {
    const value = environment[name];
    if (value !== undefined && value !== "") overrides[field] = { value: isSecret ? "(set)" : value, origin: { kind: "environment", name } };
  }
  if (options.url !== undefined) overrides.url = { value: options.url, origin: { kind: "flag", name: "--url" } };
  if (options.namespace !== undefined) overrides.namespace = { value: options.namespace, origin: { kind: "flag", name: "--namespace" } };
  return overrides;
}

function valueText({ value }: ConfigField): string {
  if (value === null) return "";
  return oneLine(typeof value === "string" ? value : JSON.stringify(value));
}

function originText(origin: ConfigOrigin, directory: string): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "file":
      return `${path.relative(directory, origin.file)}:${origin.line}`;
    case "environment":
    case "flag":
      return origin.name;
  }
}

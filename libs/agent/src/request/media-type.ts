const TEXT_APPLICATIONS: ReadonlySet<string> = new Set([
  "application/json",
  "application/xml",
  "application/yaml",
  "application/toml",
  "application/javascript",
  "application/typescript",
  "application/x-sh",
  "application/sql",
]);

/** Whether content of a media type is text that a model can read as it is. */
export function isText(mediaType: string): boolean {
  const essence = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  return essence.startsWith("text/") || TEXT_APPLICATIONS.has(essence) || /\+(?:json|xml|yaml)$/.test(essence);
}

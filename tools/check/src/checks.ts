/** What has to hold apart from the tests, cheapest to repair first. Each counts as one test. */
export const CHECKS: readonly { readonly name: string; readonly command: readonly [string, ...string[]] }[] = [
  { name: "contracts and generated code", command: ["node", "tools/codegen/src/main.ts"] },
  { name: "types (tsc)", command: ["tsc", "-p", "tsconfig.json"] },
  { name: "lint (oxlint)", command: ["oxlint"] },
  { name: "format (biome)", command: ["biome", "check", "."] },
  { name: "bundles of the apps", command: ["node", "tools/build/src/main.ts"] },
  { name: "dead code and dependencies (knip)", command: ["knip", "--no-progress", "--no-config-hints"] },
];

import manifest from "../package.json" with { type: "json" };

/** Forge's own version. */
export const VERSION: string = manifest.version;

import { defineConfig } from "vitest/config";

const NOT_OURS = ["**/node_modules/**", "**/dist/**"];

// Tests are named by cost: x.spec.ts is pure, x.int.spec.ts uses a database or a process, test/ crosses services. The cheap ones run first, and each kind by
// itself: what kills processes and waits for deadlines must not share the machine with a thousand others.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["{libs,apps,tools}/**/*.spec.ts", "examples/*/*.spec.ts"],
          exclude: ["**/*.int.spec.ts", ...NOT_OURS],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "int",
          include: ["{libs,apps,tools}/**/*.int.spec.ts"],
          exclude: NOT_OURS,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "system",
          include: ["test/**/*.spec.ts"],
          exclude: NOT_OURS,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

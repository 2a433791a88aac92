import { defineConfig } from "vitest/config";

// Tests are named by cost: x.spec.ts is pure, x.int.spec.ts uses a database or a process, test/ crosses services.
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["{libs,apps,tools}/**/*.spec.ts"], exclude: ["**/*.int.spec.ts", "**/node_modules/**"], testTimeout: 30_000 } },
      { test: { name: "int", include: ["{libs,apps,tools}/**/*.int.spec.ts"], exclude: ["**/node_modules/**"], testTimeout: 120_000, hookTimeout: 120_000 } },
      { test: { name: "system", include: ["test/**/*.spec.ts"], exclude: ["**/node_modules/**"], testTimeout: 300_000, hookTimeout: 120_000 } },
    ],
  },
});

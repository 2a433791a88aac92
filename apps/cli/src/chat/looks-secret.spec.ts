import { expect, it } from "vitest";
import { looksSecret } from "./looks-secret.ts";

it.each([
  "my api_key = abc",
  "the password is hunter2",
  `use sk-${"a1B2".repeat(8)}`,
  "postgres://me:geheim@host/db",
  "-----BEGIN RSA PRIVATE KEY-----",
  `ghp_${"x".repeat(36)}`,
  "Zm9yZ2UxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW5vcA==",
])("takes %s for a secret", (line) => expect(looksSecret(line)).toBe(true));

it.each(["fix the token counter", "look at e6e658e0c1f0aa6fd9f6a9d0f7c1c2b3a4d5e6f7", "open src/components/VeryLongComponentName/index2.tsx", "/mode plan"])(
  "keeps %s",
  (line) => expect(looksSecret(line)).toBe(false),
);

export { createPostgresStore, type PostgresStoreOptions } from "./create-postgres-store.ts";
export type { PostgresConnection } from "./database.ts";
export { type DirectoryLock, lockDirectory } from "./embedded/directory-lock.ts";
export { type EmbeddedPrograms, inspectEmbedded } from "./embedded/inspect-embedded.ts";
export { type EmbeddedConnection, type EmbeddedOptions, type EmbeddedServer, startEmbedded } from "./embedded/start-embedded.ts";
export { type DatabaseState, inspectDatabase, type MigrateOptions, migrate } from "./migrate.ts";

/**
 * What PostgreSQL's programs see of the environment. Variables like PGDATA, PGPORT or PGOPTIONS would change what they do, and the language of their
 * messages must be one that we can read.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
}

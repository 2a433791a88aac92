export { type Server, type ServerOptions, startServer } from "./server.ts";
export type { ServedApis } from "./services.ts";

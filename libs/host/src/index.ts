export { type Address, readAddress } from "./address-file.ts";
export { type ControlPlaneService, type ControlPlaneServiceOptions, startControlPlane } from "./control-plane.ts";
export { type DatabaseOptions, type OpenDatabase, openDatabase } from "./database.ts";
export { type Executor, type ExecutorOptions, startExecutor } from "./executor.ts";
export { dataDirectoryOf, projectQueue } from "./project-paths.ts";
export { type ProjectReader, type ProjectReaderOptions, startProjectReader } from "./project-reader.ts";
export { type ProjectServer, type ProjectServerOptions, startProjectServer } from "./project-server.ts";
export { grant, newToken, tokenIn } from "./tokens.ts";
export { VERSION } from "./version.ts";

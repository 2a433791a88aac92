import { createModelHandlers, createProviderRegistry, type ProviderConfig } from "@forge/agent";
import { CapabilityKind } from "@forge/protocol/worker";
import { createBuiltinTools, createFunctionHandlers, type FunctionHandlersOptions, type HooksConfig, type ProgramRules, withToolHooks } from "@forge/tools";
import { type ControlPlanePort, startWorker, type TaskHandler, type Worker } from "@forge/worker";
import type { Logger } from "pino";

/** What a project brings beside its functions. */
export type ProjectCode = Pick<FunctionHandlersOptions, "toolsDirectory" | "python" | "pythonEnvironment" | "readRun">;

export interface ExecutorOptions extends ProjectCode {
  readonly port: ControlPlanePort;
  /** Stable over restarts. */
  readonly name: string;
  readonly queues: readonly string[];
  /** What the built-in tools work on. */
  readonly workspace: string;
  /** The project's functions; absent: none are served. */
  readonly functionsDirectory?: string;
  /** Where keys and base URLs of providers are found. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly providers?: ProviderConfig;
  /** False where another process serves the built-in tools, which then holds no key; absent: this one does. */
  readonly servesTools?: boolean;
  /** False where another process serves models; absent: this one does. */
  readonly servesModels?: boolean;
  /** Hooks around the tools that it serves; absent: none. */
  readonly hooks?: HooksConfig;
  /** Programs that tools.shell may run; absent: all. */
  readonly programs?: ProgramRules;
  /** Tasks at once; absent: 64. */
  readonly slots?: number;
  readonly logger: Logger;
}

export interface Executor {
  /** Files of the project whose functions or tools are not served, and why. */
  readonly functionErrors: readonly { readonly file: string; readonly message: string }[];
  /** Names of the project's own tools. */
  readonly toolNames: readonly string[];
  drain(waitMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a worker for model calls, built-in tools, and the functions and tools of one project. Resolves once it has joined. */
export async function startExecutor(options: ExecutorOptions): Promise<Executor> {
  const { logger } = options;
  const functions =
    options.functionsDirectory === undefined
      ? undefined
      : await createFunctionHandlers({
          functionsDirectory: options.functionsDirectory,
          toolsDirectory: options.toolsDirectory,
          python: options.python,
          pythonRoot: options.workspace,
          pythonEnvironment: options.pythonEnvironment,
          readRun: options.readRun,
          log: (line) => logger.info(line, "a function printed"),
        });
  const { hooks, workspace } = options;
  const onProblem = (error: unknown): void => logger.error({ err: error }, "a problem in the executor");
  const hooked = (handlers: readonly TaskHandler[]): readonly TaskHandler[] =>
    hooks === undefined ? handlers : withToolHooks(handlers, { config: hooks, workspace, onProblem });
  let worker: Worker;
  try {
    worker = await startWorker({
      port: options.port,
      name: options.name,
      queues: options.queues,
      handlers: [
        ...(options.servesModels === false ? [] : modelHandlers(options)),
        ...(options.servesTools === false
          ? []
          : hooked(withoutReplaced(createBuiltinTools({ workspace, programs: options.programs }), functions?.handlers ?? []))),
        ...hooked(functions?.handlers ?? []),
      ],
      slots: options.slots ?? 64,
      onProblem,
    });
  } catch (error) {
    await functions?.close();
    throw error;
  }
  return {
    functionErrors: functions?.errors ?? [],
    toolNames: (functions?.handlers ?? []).flatMap(({ capability }) => (capability.kind === CapabilityKind.TOOL ? [capability.name] : [])),
    drain: (waitMs) => worker.drain(waitMs),
    stop: async () => {
      await worker.stop();
      await functions?.close();
    },
  };
}

function modelHandlers({ environment, providers: config, logger }: ExecutorOptions): readonly TaskHandler[] {
  const { providers, models } = createProviderRegistry({ env: environment, config });
  return createModelHandlers({ providers, models, onCircuitChange: (change) => logger.warn(change, change.message) });
}

/** A project's own tool takes the place of a built-in one of its name. */
function withoutReplaced(builtin: readonly TaskHandler[], own: readonly TaskHandler[]): TaskHandler[] {
  return builtin.filter(({ capability }) => !own.some((other) => other.capability.kind === capability.kind && other.capability.name === capability.name));
}

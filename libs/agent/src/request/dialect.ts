import type { InputKind, ReasoningLevel, StructuredOutput } from "../models/model-table.ts";

/** How the requests to one model are written, as far as models differ. Recorded with every call, so that the request can be rebuilt. */
export interface Dialect {
  /** `first`: only before everything else; later ones are then said by the user, marked as the system's. */
  readonly systemMessages: "anywhere" | "first";
  /** `user`: an answer at the end would be taken for the beginning of the next, or refused. */
  readonly lastMessage: "any" | "user";
  /** `object`: arguments that are no JSON object can't be sent back as they are. */
  readonly callArguments: "text" | "object";
  /** Whether the provider wants to be told how far its cache may reach. */
  readonly cacheBreakpoints: boolean;
  readonly structuredOutput: StructuredOutput;
  /** What the model reads beside text. */
  readonly inputs: readonly InputKind[];
  /** Of an answer, where the task sets no bound; 0: none. */
  readonly maxOutputTokens: number;
  /** Empty: as the provider likes. */
  readonly reasoning: ReasoningLevel | "";
}

/** What holds where nothing else is known: text and images, as most models that people run themselves. */
export const DEFAULT_DIALECT: Dialect = {
  systemMessages: "anywhere",
  lastMessage: "any",
  callArguments: "text",
  cacheBreakpoints: false,
  structuredOutput: "never",
  inputs: ["image"],
  maxOutputTokens: 0,
  reasoning: "",
};

/** What of a dialect is not the default, for the record; undefined where all is. */
export function describeDialect(dialect: Dialect): Partial<Dialect> | undefined {
  const fields = Object.keys(DEFAULT_DIALECT) as (keyof Dialect)[];
  const special = fields.filter((field) => JSON.stringify(dialect[field]) !== JSON.stringify(DEFAULT_DIALECT[field]));
  return special.length > 0 ? Object.fromEntries(special.map((field) => [field, dialect[field]])) : undefined;
}

/** The dialect that a recorded call (`parameters_json`) was written in. */
export function readDialect(parametersJson: string): Dialect {
  const { dialect } = JSON.parse(parametersJson) as { dialect?: Partial<Dialect> };
  return { ...DEFAULT_DIALECT, ...dialect };
}

/** A language whose definitions are found: its grammar, and what of its syntax defines something. */
export interface Language {
  readonly name: string;
  /** Languages whose files name each other's definitions have one. */
  readonly family: string;
  readonly comments: "//" | "#";
  /** The name of the grammar's file, without `tree-sitter-` and its ending. */
  readonly grammar: string;
  readonly extensions: readonly string[];
  /** A query of tree-sitter's: each capture is a defined name, and called after what it is. */
  readonly query: string;
}

const JAVASCRIPT = `
  (class_declaration name: (_) @class)
  (class_body (method_definition name: (property_identifier) @method))
  (function_declaration name: (_) @function)
  (generator_function_declaration name: (_) @function)
  (program (lexical_declaration (variable_declarator name: (identifier) @const)))
  (program (variable_declaration (variable_declarator name: (identifier) @var)))
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @const)))
`;

const TYPESCRIPT = `
  ${JAVASCRIPT}
  (abstract_class_declaration name: (_) @class)
  (interface_declaration name: (_) @interface)
  (type_alias_declaration name: (_) @type)
  (enum_declaration name: (_) @enum)
  (function_signature name: (_) @function)
  (abstract_method_signature name: (property_identifier) @method)
  (internal_module name: (_) @namespace)
`;

/** Those that are known. C is read by the grammar of C++, which knows all of it that defines something. */
export const LANGUAGES: readonly Language[] = [
  { name: "typescript", family: "js", comments: "//", grammar: "typescript", extensions: ["ts", "mts", "cts"], query: TYPESCRIPT },
  { name: "tsx", family: "js", comments: "//", grammar: "tsx", extensions: ["tsx"], query: TYPESCRIPT },
  { name: "javascript", family: "js", comments: "//", grammar: "javascript", extensions: ["js", "mjs", "cjs", "jsx"], query: JAVASCRIPT },
  {
    name: "python",
    family: "python",
    comments: "#",
    grammar: "python",
    extensions: ["py", "pyi"],
    query: `
      (class_definition name: (_) @class)
      (function_definition name: (_) @function)
      (module (expression_statement (assignment left: (identifier) @var)))
    `,
  },
  {
    name: "go",
    family: "go",
    comments: "//",
    grammar: "go",
    extensions: ["go"],
    query: `
      (function_declaration name: (_) @function)
      (method_declaration name: (_) @method)
      (type_spec name: (_) @type)
      (type_alias name: (_) @type)
      (source_file (const_declaration (const_spec name: (identifier) @const)))
      (source_file (var_declaration (var_spec name: (identifier) @var)))
    `,
  },
  {
    name: "rust",
    family: "rust",
    comments: "//",
    grammar: "rust",
    extensions: ["rs"],
    query: `
      (function_item name: (_) @function)
      (function_signature_item name: (_) @function)
      (struct_item name: (_) @struct)
      (enum_item name: (_) @enum)
      (union_item name: (_) @union)
      (trait_item name: (_) @trait)
      (type_item name: (_) @type)
      (mod_item name: (_) @module)
      (macro_definition name: (_) @macro)
      (const_item name: (_) @const)
      (static_item name: (_) @static)
    `,
  },
  {
    name: "java",
    family: "java",
    comments: "//",
    grammar: "java",
    extensions: ["java"],
    query: `
      (class_declaration name: (_) @class)
      (interface_declaration name: (_) @interface)
      (enum_declaration name: (_) @enum)
      (record_declaration name: (_) @record)
      (annotation_type_declaration name: (_) @annotation)
      (method_declaration name: (_) @method)
      (constructor_declaration name: (_) @constructor)
    `,
  },
  {
    name: "cpp",
    family: "c",
    comments: "//",
    grammar: "cpp",
    extensions: ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx"],
    query: `
      (function_definition declarator: (function_declarator declarator: (_) @function))
      (function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @function)))
      (function_definition declarator: (reference_declarator (function_declarator declarator: (_) @function)))
      (declaration declarator: (function_declarator declarator: (identifier) @function))
      (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @function)))
      (field_declaration declarator: (function_declarator declarator: (_) @method))
      (struct_specifier name: (_) @struct body: (_))
      (class_specifier name: (_) @class body: (_))
      (union_specifier name: (_) @union body: (_))
      (enum_specifier name: (_) @enum body: (_))
      (type_definition declarator: (type_identifier) @type)
      (namespace_definition name: (_) @namespace)
      (preproc_function_def name: (_) @macro)
    `,
  },
  {
    name: "c_sharp",
    family: "c_sharp",
    comments: "//",
    grammar: "c-sharp",
    extensions: ["cs"],
    query: `
      (class_declaration name: (_) @class)
      (interface_declaration name: (_) @interface)
      (struct_declaration name: (_) @struct)
      (enum_declaration name: (_) @enum)
      (record_declaration name: (_) @record)
      (method_declaration name: (_) @method)
      (constructor_declaration name: (_) @constructor)
      (property_declaration name: (_) @property)
    `,
  },
  {
    name: "ruby",
    family: "ruby",
    comments: "#",
    grammar: "ruby",
    extensions: ["rb"],
    query: `
      (class name: (_) @class)
      (module name: (_) @module)
      (method name: (_) @method)
      (singleton_method name: (_) @method)
    `,
  },
  {
    name: "php",
    family: "php",
    comments: "//",
    grammar: "php",
    extensions: ["php"],
    query: `
      (class_declaration name: (_) @class)
      (interface_declaration name: (_) @interface)
      (trait_declaration name: (_) @trait)
      (function_definition name: (_) @function)
      (method_declaration name: (_) @method)
    `,
  },
  { name: "bash", family: "sh", comments: "#", grammar: "bash", extensions: ["sh", "bash"], query: "(function_definition name: (_) @function)" },
];

const BY_EXTENSION = new Map(LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)));

/** By a file's name; undefined where its definitions can't be found. */
export function languageOf(name: string): Language | undefined {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? undefined : BY_EXTENSION.get(name.slice(dot + 1).toLowerCase());
}

/** Each once. */
export const FAMILIES: readonly string[] = [...new Set(LANGUAGES.map(({ family }) => family))];

/** Bytes of UTF-8 of an expression; a branch condition that is longer belongs in a function. */
export const EXPRESSION_BYTES_MAX = 4096;

/** Nodes of an expression's tree. */
export const EXPRESSION_NODES_MAX = 500;

/** How deep the tree may be; well inside every stack. */
export const EXPRESSION_DEPTH_MAX = 50;

/** Units of work of one evaluation: a node, a compared element, or 32 characters of a string that is read or made. A second or two at worst. */
export const EVALUATION_STEPS_MAX = 1_000_000;

/** Characters of a string that an expression makes; what the state already holds may be longer. */
export const MADE_TEXT_LENGTH_MAX = 16_777_216;

/** Items of a list that an expression makes. */
export const MADE_LIST_LENGTH_MAX = 100_000;

/** How deep two values are compared. */
export const VALUE_DEPTH_MAX = 200;

/** Turns in one session; after so many another one is opened, so that a turn's cost is not that of a long conversation. */
export const TURNS_PER_SESSION = 10;

/** What is said in a turn, which the demo model says again. */
export const TEXT = "The quick brown fox jumps over the lazy dog.";

/** Far beyond what any of the gateway's reads takes, and within what a caller waits for. */
export const DATABASE_ANSWER_MS = 5_000;

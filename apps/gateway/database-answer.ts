/** Far longer than any read of the gateway takes, and shorter than a caller waits. */
export const DATABASE_ANSWER_MS = 5_000;

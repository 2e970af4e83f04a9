/** The name of an account for auditors: the same throughout one auction, and unlike any it has in another. */
export type PseudonymOf = (accountId: string) => string;

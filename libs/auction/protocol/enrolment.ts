export const ROLES = ['ORIGINATOR', 'MARKET_MAKER', 'OPERATOR', 'AUDITOR', 'VIEWER'] as const;
export type Role = (typeof ROLES)[number];

/** They only let a request reach the policy store, which decides. */
export const CAPABILITIES = ['auction:create', 'auction:quote'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** What identity has to know of accounts that are enrolled in the auctions. */
export const AUCTION_CATALOGUE = { service: 'AUCTION', roles: ROLES, capabilities: CAPABILITIES };

export const ROLES = ['ORIGINATOR', 'MARKET_MAKER', 'OPERATOR', 'AUDITOR', 'VIEWER'] as const;
export type Role = (typeof ROLES)[number];

/** They only let a request reach the policy store, which decides. */
export const CAPABILITIES = ['auction:create', 'auction:quote'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** What the identity service needs to know about accounts in the auctions. */
export const AUCTION_CATALOGUE = { service: 'AUCTION', roles: ROLES, capabilities: CAPABILITIES };

/**
 * Providers by their names in paths, settings and replies. Their indices are the shards of the journal family `data`, so the order
 * must never change.
 */
export const PROVIDERS = ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e', 'venue_f'] as const;

export type Provider = (typeof PROVIDERS)[number];

/** The shard after those of the providers: labels of games and ticks, which belong to no venue. */
export const LABELS_SHARD = PROVIDERS.length;

export interface ProviderFacts {
  /** Null if the provider is not registered: no list names it, and few routes serve it. */
  readonly numericId: number | null;
  readonly chainId: '' | '56' | '137';
  readonly orderTypes: readonly ('limit' | 'market' | 'fok')[];
  readonly walksTheBook: boolean;
  readonly needsApproval: boolean;
  /** Each market has one book, for its first outcome. The other outcome mirrors it. */
  readonly isSingleBook: boolean;
  readonly authFlow: 'api_key' | 'wallet_signature';
  readonly tokenIdFormat: 'clob_uint256' | 'opaque';
  readonly metadataKey: 'conditionId' | 'marketId';
  /** The scale of batch prices; null if the provider has none. */
  readonly batchPrices: 'cents' | 'unit' | null;
  readonly showsWallets: boolean;
  /** Pays out positions by itself at settlement. */
  readonly settlesItself: boolean;
  /** The status of a market that gives none. */
  readonly firstStatus: 'open' | 'active';
}

const ON_CHAIN = {
  walksTheBook: true,
  needsApproval: true,
  isSingleBook: false,
  authFlow: 'wallet_signature',
  metadataKey: 'marketId',
  batchPrices: 'unit',
  showsWallets: true,
  settlesItself: false,
  firstStatus: 'active',
} as const;

export const PROVIDER_FACTS: Readonly<Record<Provider, ProviderFacts>> = {
  venue_a: {
    ...ON_CHAIN,
    numericId: 2,
    chainId: '137',
    orderTypes: ['limit', 'market', 'fok'],
    tokenIdFormat: 'clob_uint256',
    metadataKey: 'conditionId',
  },
  venue_b: {
    numericId: 1,
    chainId: '',
    orderTypes: ['limit', 'market'],
    walksTheBook: true,
    needsApproval: false,
    isSingleBook: true,
    authFlow: 'api_key',
    tokenIdFormat: 'opaque',
    metadataKey: 'marketId',
    batchPrices: 'cents',
    showsWallets: false,
    settlesItself: true,
    firstStatus: 'open',
  },
  venue_c: {
    ...ON_CHAIN,
    numericId: 8,
    chainId: '56',
    orderTypes: ['limit', 'market', 'fok'],
    tokenIdFormat: 'clob_uint256',
  },
  venue_d: {
    ...ON_CHAIN,
    numericId: 3,
    chainId: '56',
    orderTypes: ['limit', 'market'],
    walksTheBook: false,
    tokenIdFormat: 'opaque',
    batchPrices: null,
  },
  venue_e: {
    ...ON_CHAIN,
    numericId: 9,
    chainId: '',
    orderTypes: ['limit', 'market'],
    needsApproval: false,
    tokenIdFormat: 'opaque',
    settlesItself: true,
  },
  venue_f: {
    numericId: null,
    chainId: '',
    orderTypes: [],
    walksTheBook: false,
    needsApproval: false,
    isSingleBook: true,
    authFlow: 'wallet_signature',
    tokenIdFormat: 'opaque',
    metadataKey: 'marketId',
    batchPrices: null,
    showsWallets: false,
    settlesItself: false,
    firstStatus: 'active',
  },
};

/** The providers that lists name, by id. */
export const REGISTERED: readonly Provider[] = PROVIDERS.filter(
  (provider) => PROVIDER_FACTS[provider].numericId !== null,
);

/** Ignores case and spaces around the name. */
export function providerOf(name: string): Provider | undefined {
  const wanted = name.trim().toLowerCase();
  return PROVIDERS.find((provider) => provider === wanted);
}

export function providerOfNumber(id: number): Provider | undefined {
  return REGISTERED.find((provider) => PROVIDER_FACTS[provider].numericId === id);
}

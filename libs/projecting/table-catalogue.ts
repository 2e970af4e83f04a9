import type { Schemas } from './schemas.js';

export interface CataloguedTable {
  readonly schema: keyof Schemas;
  readonly name: string;
  readonly key: readonly string[];
  /** SQL that gives the shard of a row: the first digit of an auction's or a quote's id is that of its shard. */
  readonly shard: string;
  /** Rows past this moment may be gone already, and nobody asks for them. */
  readonly expires?: string;
}

const DIGIT_OF_AUCTION = 'left(auction_id::text, 1)::smallint';

/**
 * Every table of the projections, in the order in which locks are taken on them: the projector takes that on `projection_offsets`
 * first, and readers look at viewers before auctions.
 */
export const CATALOGUE: readonly CataloguedTable[] = [
  { schema: 'auction_history', name: 'projection_offsets', key: ['shard'], shard: 'shard' },
  {
    schema: 'completed',
    name: 'viewers',
    key: ['viewer_id', 'opened_at', 'auction_id'],
    shard: DIGIT_OF_AUCTION,
  },
  { schema: 'completed', name: 'auctions', key: ['auction_id'], shard: 'shard' },
  { schema: 'auction_history', name: 'events', key: ['auction_id', 'sequence'], shard: 'shard' },
  { schema: 'auction_history', name: 'quotes', key: ['quote_id'], shard: DIGIT_OF_AUCTION },
  {
    schema: 'auction_history',
    name: 'answers',
    key: ['account_id', 'operation', 'key', 'shard'],
    shard: 'shard',
    expires: 'expires_at',
  },
];

export function qualified({ schema, name }: CataloguedTable, schemas: Schemas): string {
  return `${schemas[schema]}.${name}`;
}

import type { Pool } from 'pg';
import { z } from 'zod';
import type { VaultHoldings } from './link-traders.js';

const VENUES = ['venue_b', 'venue_e'] as const;
/** Without what the vault issued itself: its own escrow backs that, not a venue. */
const OWED = `
  select venue, asset, (sum(amount) / 1000000.0)::numeric(20, 6)::text as amount from custody.balances
  where domain = 'vault' and kind <> 'in_transit' and account_id <> 'system:opening'
  group by venue, asset having sum(amount) > 0 order by venue, asset`;

/** The fields of a market that name its contract. */
const tradedMarket = z.object({
  exchange_id: z.string(),
  market_id: z.string(),
  contract_id: z.string().optional(),
  outcomes: z.array(z.object({ index: z.number(), outcome: z.string() })),
});
/** The names that auctions use for the outcomes, by index. */
const OUTCOMES = ['YES', 'NO'];

/** The initial holdings of the vault's own account at each practice venue. */
export async function vaultHoldings(pool: Pool, markets: readonly unknown[]): Promise<VaultHoldings[]> {
  const { rows } = await pool.query<{ venue: string; asset: string; amount: string }>(OWED);
  const traded = z.array(tradedMarket).parse(markets);
  return VENUES.map((venue) => {
    const owed = new Map(rows.filter((row) => row.venue === venue).map((row) => [row.asset, row.amount]));
    const shares = traded
      .filter(({ exchange_id, contract_id }) => exchange_id === venue && contract_id !== undefined)
      .flatMap(({ market_id, contract_id, outcomes }) =>
        outcomes.map(({ index, outcome }) => ({
          ...{ market_id, outcome },
          amount: owed.get(`${contract_id}/${OUTCOMES[index]}`) ?? '0',
        })),
      );
    return { venue, dollars: owed.get('') ?? '0', shares: shares.filter(({ amount }) => amount !== '0') };
  });
}

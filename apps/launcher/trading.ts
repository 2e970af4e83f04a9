import type { Pool } from 'pg';
import { z } from 'zod';
import type { Clock } from '#libs/platform/time/clock.js';
import { linkTraders, type VaultMoney } from './demo/link-traders.js';
import type { TradingPlaces } from './processes.js';
import type { DemoUser } from './seed-result.js';

/** The practice venues as cluster.json shows them. */
export interface PracticeFacts {
  readonly admin_url: string;
  readonly venues: readonly {
    readonly exchange_id: string;
    readonly rest_url: string;
    readonly ws_url: string;
  }[];
  readonly chains: readonly never[];
  readonly markets: readonly unknown[];
}

const markets = z.object({ markets: z.array(z.unknown()) });

/** Once the processes are ready: the demo traders get their accounts, and the seeded markets are told. */
export async function openTrading(
  places: TradingPlaces,
  users: readonly DemoUser[],
  pool: Pool,
  executor: { readonly executorUrl: string; readonly serviceToken: string; readonly clock: Clock },
): Promise<PracticeFacts> {
  const { adminPort, venueBPort, venueEPort } = places;
  const admin_url = `http://127.0.0.1:${adminPort}`;
  await linkTraders(users, await vaultMoney(pool), executor);
  const answer = await fetch(`${admin_url}/markets`);
  const venue = (exchange_id: string, port: number): PracticeFacts['venues'][number] => ({
    exchange_id,
    rest_url: `http://127.0.0.1:${port}`,
    ws_url: `ws://127.0.0.1:${port}`,
  });
  return {
    admin_url,
    venues: [venue('venue_b', venueBPort), venue('venue_e', venueEPort)],
    chains: [],
    markets: markets.parse(await answer.json()).markets,
  };
}

const VENUES = ['venue_b', 'venue_e'] as const;
const OWED = `
  select venue, (sum(amount) / 1000000.0)::numeric(20, 2)::text as dollars from custody.balances
  where domain = 'vault' and kind = 'available' and asset = '' and account_id not like 'system:%' group by venue`;

/** Collateral of accounts in the vault, by venue. */
async function vaultMoney(pool: Pool): Promise<VaultMoney[]> {
  const { rows } = await pool.query<{ venue: string; dollars: string }>(OWED);
  return VENUES.map((venue) => ({
    venue,
    dollars: rows.find((row) => row.venue === venue)?.dollars ?? '0',
  }));
}

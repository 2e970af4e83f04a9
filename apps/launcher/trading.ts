import type { Pool } from 'pg';
import { z } from 'zod';
import type { Clock } from '#libs/platform/time/clock.js';
import { linkTraders } from './demo/link-traders.js';
import { vaultHoldings } from './demo/vault-holdings.js';
import type { TradingPlaces } from './processes.js';
import type { DemoUser } from './seed-result.js';

/** The practice venues as cluster.json describes them. */
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

/**
 * Opens accounts for the demo traders once the processes are ready. Resolves with the practice venues and
 * their markets.
 */
export async function openTrading(
  places: TradingPlaces,
  users: readonly DemoUser[],
  pool: Pool,
  executor: { readonly executorUrl: string; readonly serviceToken: string; readonly clock: Clock },
): Promise<PracticeFacts> {
  const { adminPort, venueBPort, venueEPort } = places;
  const admin_url = `http://127.0.0.1:${adminPort}`;
  const answer = await fetch(`${admin_url}/markets`);
  const listed = markets.parse(await answer.json()).markets;
  await linkTraders(users, await vaultHoldings(pool, listed), executor);
  const venue = (exchange_id: string, port: number): PracticeFacts['venues'][number] => ({
    exchange_id,
    rest_url: `http://127.0.0.1:${port}`,
    ws_url: `ws://127.0.0.1:${port}`,
  });
  return {
    admin_url,
    venues: [venue('venue_b', venueBPort), venue('venue_e', venueEPort)],
    chains: [],
    markets: listed,
  };
}

/** Accounts at venue b, by user. */
export async function accountsAtVenueB(pool: Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ user_id: string; account: string }>(
    `select user_id, account from signer.keys where venue = 'venue_b' and account <> ''`,
  );
  return new Map(rows.map(({ user_id, account }) => [user_id, account]));
}

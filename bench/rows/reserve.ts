import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { PostgresReservationDesk } from '#libs/auction/admission/risk/postgres-desk.js';
import type { ReserveRequest } from '#libs/auction/admission/reservation-desk.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { alternating } from '../alternating.js';
import type { Ground } from '../ground/ground.js';
import { overReserved } from '../ground/over-reserved.js';
import { closedLoop } from '../load/closed-loop.js';
import { atMost, forComparison, type RowOutcome, type Row, type Settings } from '../row.js';

const SHARDS = [0, 1, 2];
const CALLERS = 16;
const ACCOUNT = '11111111-0000-8000-8000-000000000001';
const VENUE = 'venue_a';
const FUNDS_ATOMS = 1_000_000_000_000;
const RANDOM_RANGE = 2 ** 32;

const request: ReserveRequest = {
  account: ACCOUNT,
  current: [],
  need: {
    side: 'BUY',
    routes: [{ venue: VENUE, contract_id: 'a-rate-cut-june', outcome: 'YES' }],
    price_atoms: 500_000,
    quantity_atoms: 10_000,
    parts: 1,
  },
};

/** The reservations of `one-account` alone: three shards that compete for the same few rows. */
export const reserve: Row = {
  name: 'reserve',
  title: 'Reservations alone, of one account from 16 callers over all three shards',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const database = await ground.database();
    const client = await database.connect();
    await insertEvidence(client);
    const clock = new SystemClock();
    const random = (): number => randomInt(RANDOM_RANGE) / RANDOM_RANGE;
    const desks = await Promise.all(
      SHARDS.map((shard) =>
        PostgresReservationDesk.open({ url: database.url, shard, epoch: 1, clock, random }),
      ),
    );
    const ask = async (caller: number): Promise<void> => {
      const [outcome] = (await desks[caller % SHARDS.length]?.reserve([request])) ?? [];
      if (outcome?.ok !== true) throw new Error(`refused: ${outcome?.error ?? 'no answer'}`);
    };
    let turn = 0;
    const { medians, runs } = await alternating(
      {
        alone: () => closedLoop(1, settings.seconds, () => ask(turn++)),
        together: () => closedLoop(CALLERS, settings.seconds, ask),
      },
      settings,
    );
    const totals = desks.map((desk) => desk.totals());
    await Promise.all(desks.map((desk) => desk.close()));
    const over = await overReserved(client);
    await client.end();
    const sum = (of: 'aborts' | 'commits'): number => totals.reduce((all, one) => all + one[of], 0);
    const checks = [
      forComparison('reservations of 16 callers', '/s', medians.together, {
        name: '1 caller',
        measured: medians.alone,
      }),
      atMost('aborts a commit', '', sum('aborts') / sum('commits'), { minimum: 0.1, goal: 0.1 }),
      atMost('accounts over-reserved', '', over, { minimum: 0, goal: 0 }),
    ];
    return { checks, details: { runs, totals } };
  },
};

async function insertEvidence(client: pg.Client): Promise<void> {
  await client.query(
    `insert into risk.evidence (account_id, venue, resource, amount, source_sequence, risk_valid_until, authority_valid_until)
     select $1, venue, resource, $2, 1, now() + interval '1 hour', now() + interval '1 hour'
     from (values ($3, 'COLLATERAL'), ($3, 'VENUE_POSITION_LIMIT'), ('', 'SERVICE_EXPOSURE_LIMIT')) as key (venue, resource)
     on conflict do nothing`,
    [ACCOUNT, FUNDS_ATOMS, VENUE],
  );
}

import { instantFromNanos, plusMillis, type Instant } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { ExecutorRequest, ObservedFill } from '../protocol/cell-protocol.js';
import { toWire } from '../protocol/wire.js';
import type { VenueId } from '../rules/venues.js';
import type { AccountMovement, ObservedAccountOrder, VenueAccount, VenueBalances } from '../venues/port.js';
import type { CellClient } from './cell-client.js';

type SeenMovement = Extract<ExecutorRequest, { op: 'balances' }>['movements'][number];

export interface PassOf {
  readonly user_id: string;
  readonly venue: VenueId;
  readonly account: VenueAccount;
  readonly cell: CellClient;
  readonly clock: Clock;
}

/** Where the next pass starts, and the balances this pass found. */
export interface Passed {
  readonly since: Instant;
  readonly balances?: string;
}

const FIRST_SINCE: Instant = '2020-01-01T00:00:00.000000000Z';
/** Late entries of the venue are read again. The cell knows each fill by its id. */
const OVERLAP_MILLIS = 60_000;
const TRIES = 3;

interface Reading {
  readonly fills: readonly ObservedFill[];
  readonly orders: readonly ObservedAccountOrder[];
  readonly movements: readonly AccountMovement[];
  readonly balances: VenueBalances;
  /** Nothing changed during the read, so balances and fills belong to the same moment. */
  readonly isOfOneMoment: boolean;
}

/**
 * Reads a whole account and reports it to the cell: first orders and fills, then the balances that follow from them.
 */
export async function passOver(
  { user_id, venue, account, cell, clock }: PassOf,
  since: Instant = FIRST_SINCE,
): Promise<Passed> {
  const began = instantFromNanos(clock.epochNanos());
  let reading = await read(account, since);
  for (let tries = 1; tries < TRIES && !reading.isOfOneMoment; tries += 1)
    reading = await read(account, since);
  const { fills, orders, balances, movements, isOfOneMoment } = reading;
  const read_of = { user_id, venue, account: account.account };
  const as_of = await cell.observed({ ...read_of, orders, fills, is_complete: true });
  // The account changed during every try, so its balances prove nothing. The next pass tries again.
  if (!isOfOneMoment) return { since: plusMillis(began, -OVERLAP_MILLIS) };
  await cell.balances({ ...read_of, as_of, ...balances, movements: movements.map(seenMovement) });
  return { since: plusMillis(began, -OVERLAP_MILLIS), balances: lookOf(balances) };
}

async function read(account: VenueAccount, since: Instant): Promise<Reading> {
  const [before, moved] = await Promise.all([account.fills(since), account.movements(since)]);
  const [orders, balances] = await Promise.all([account.openOrders(), account.balances()]);
  const [fills, movements] = await Promise.all([account.fills(since), account.movements(since)]);
  const isOfOneMoment = fills.length === before.length && movements.length === moved.length;
  return { fills, orders, balances, movements, isOfOneMoment };
}

/** Makes two readings of the balances comparable. */
export function lookOf({ cash, tokens }: VenueBalances): string {
  return toWire([cash.map(toWire).sort(), tokens.map(toWire).sort()]);
}

const MOVEMENTS = {
  deposit: 'DEPOSIT',
  withdrawal: 'WITHDRAWAL',
  'transfer-in': 'EXTERNAL_TRANSFER',
  'transfer-out': 'EXTERNAL_TRANSFER',
  pairs: 'PAIRS',
  payout: 'PAYOUT',
  shards: 'COLLATERAL',
} as const;

/** Only the cell knows whether a transfer is one of ours, because it has the references. */
function seenMovement({ kind, ...movement }: AccountMovement): SeenMovement {
  return { ...movement, movement: MOVEMENTS[kind] };
}

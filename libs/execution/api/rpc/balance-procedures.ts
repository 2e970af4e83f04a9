import { instantFromNanos } from '#libs/base/instant.js';
import { object } from '#libs/edge/decoding/decode.js';
import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import { printMicros, type Micros } from '../../rules/micros.js';
import { printTime } from '../../rules/record.js';
import { CAPABILITIES, tradingDomain, type VenueId } from '../../rules/venues.js';
import type { VenueBalances } from '../../venues/port.js';
import { orderCaller } from '../caller.js';
import type { ExecutionParts } from '../execution-parts.js';
import type { LedgerBalance } from '../../projections/reader/ledger-reader.js';
import { anyId } from './inputs.js';
import { procedure, type Procedure } from './procedure.js';
import { balancesResult } from './results.js';

/** After this time the caller's accounts are unknown, and every venue is reported as unread. */
const CELL_PATIENCE_MS = 1_000;
const CASH_PLACES = 2;
const NONE = '0.00';

interface DegradedRead {
  readonly leg: string;
  readonly reason: string;
}

interface Row {
  readonly row: Record<string, unknown>;
  readonly degraded?: DegradedRead;
}

/** Balances by custody domain and venue. The venue knows the amount, and the ledger how much of it is held. */
export function balanceProcedures(): readonly Procedure[] {
  const access = 'position:read';
  const result = balancesResult;
  return [
    procedure(
      {
        name: 'balances.getAllBalances',
        kind: 'query',
        access,
        result,
        summary: "Money in the caller's own accounts",
      },
      object({}),
      async ({ caller, requestId, parts }) => answer(await rowsOf(parts, caller, requestId)),
    ),
    procedure(
      {
        name: 'balances.getWalletBalances',
        kind: 'query',
        access,
        result,
        summary: "Money in one of the caller's wallets",
      },
      object({ required: { walletAddress: anyId } }),
      async ({ caller, requestId, parts, input: { walletAddress } }) => {
        const rows = await rowsOf(parts, caller, requestId);
        const address = walletAddress.toLowerCase();
        const isOf = ({ row, degraded }: Row): boolean =>
          row.walletAddress === address || (row.walletAddress === undefined && degraded !== undefined);
        return answer(rows.filter((found) => found.row.custodyDomain === 'chain' && isOf(found)));
      },
    ),
    procedure(
      {
        name: 'balances.getVaultBalances',
        kind: 'query',
        access,
        result,
        summary: "The caller's balances in the vault",
      },
      object({}),
      async ({ caller, parts }) => {
        const balances = await parts.opened.reads.ledger.balances(caller.user_id);
        const asOf = nowOf(parts);
        const rows = balances.filter(({ custodyDomain }) => custodyDomain === 'vault');
        return answer(rows.map((balance) => ({ row: vaultRow(balance, asOf) })));
      },
    ),
  ];
}

function vaultRow(
  { custodyDomain, exchangeId, asset, value, held, inTransit }: LedgerBalance,
  asOf: string,
): Record<string, unknown> {
  return { custodyDomain, exchangeId, asset, value, held, inTransit, available: true, asOf };
}

function answer(rows: readonly Row[]): Record<string, unknown> {
  const degradedReads = rows.flatMap(({ degraded }) => degraded ?? []);
  return { balances: rows.map(({ row }) => row), degraded: degradedReads.length > 0, degradedReads };
}

async function rowsOf(parts: ExecutionParts, caller: ApiCaller, requestId: string): Promise<readonly Row[]> {
  const { cells, venues, opened } = parts;
  const [linked, ledger] = await Promise.all([
    cells.ask<'links'>({ ...orderCaller(caller, requestId), op: 'links' }, CELL_PATIENCE_MS),
    opened.reads.ledger.balances(caller.user_id),
  ]);
  const leg = { ledger, user_id: caller.user_id, request_id: requestId };
  return Promise.all(
    venues.ids.map(async (venue) => {
      if (!linked.ok) return unread(parts, { ...leg, venue, account: undefined }, linked.refusal.code);
      const account = linked.value.links.find((link) => link.venue === venue)?.account;
      return rowOf(parts, { ...leg, venue, account });
    }),
  );
}

interface Leg {
  readonly venue: VenueId;
  readonly account: string | undefined;
  readonly ledger: readonly LedgerBalance[];
  readonly user_id: string;
  readonly request_id: string;
}

async function rowOf(parts: ExecutionParts, leg: Leg): Promise<Row> {
  const { venue, account, user_id, request_id } = leg;
  const { head, inTransit, held } = bookedOf(leg);
  if (account === undefined) {
    const nothing = { value: NONE, held: NONE, inTransit: NONE, available: true };
    return { row: { ...head, ...nothing, asOf: nowOf(parts) } };
  }
  const read = await parts.opened.executor.ask<'account_balances'>({
    ...{ op: 'account_balances', request_id, user_id, venue },
  });
  if (!read.ok) return unread(parts, leg, read.refusal.code);
  return {
    row: { ...head, ...moneyOf(read.value), held, inTransit, available: true, asOf: nowOf(parts) },
  };
}

/** The row of a venue that could not be read. Its amounts mean nothing. */
function unread(parts: ExecutionParts, leg: Leg, reason: string): Row {
  const { head, inTransit } = bookedOf(leg);
  return {
    row: { ...head, value: NONE, held: NONE, inTransit, available: false, asOf: nowOf(parts) },
    degraded: { leg: leg.venue, reason },
  };
}

function bookedOf({ venue, account, ledger }: Leg): {
  readonly head: Readonly<Record<string, unknown>>;
  readonly held: string;
  readonly inTransit: string;
} {
  const domain = tradingDomain(venue);
  const asset = CAPABILITIES[venue].settlement_currency;
  const booked = ledger.find(
    (row) => row.custodyDomain === domain && row.exchangeId === venue && row.asset === asset,
  );
  const wallet = domain === 'chain' && account !== undefined ? { walletAddress: account.toLowerCase() } : {};
  return {
    head: { custodyDomain: domain, exchangeId: venue, ...wallet, asset },
    held: booked?.held ?? NONE,
    inTransit: booked?.inTransit ?? NONE,
  };
}

function moneyOf({ cash }: VenueBalances): Record<string, unknown> {
  const sum = cash.reduce<Micros>((total, { value }) => total + value, 0n);
  const shards = cash.flatMap(({ shard, value }) =>
    shard === undefined ? [] : [{ shard, value: printMicros(value, CASH_PLACES) }],
  );
  return { value: printMicros(sum, CASH_PLACES), ...(shards.length === 0 ? {} : { shards }) };
}

function nowOf({ clock }: ExecutionParts): string {
  return printTime(instantFromNanos(clock.epochNanos()));
}

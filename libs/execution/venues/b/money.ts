import { instantFromNanos, NANOS_PER_SECOND, type Instant } from '#libs/base/instant.js';
import { ONE, timesMicros, type Micros } from '../../rules/micros.js';
import type { AccountMovement, VenueBalances } from '../port.js';
import { NO, YES } from './amounts.js';
import { instantOf } from './orders.js';
import { readPages } from './pages.js';
import type { VenueBRequests } from './requests.js';
import {
  accountTransferPage,
  bBalance,
  depositPage,
  pairPage,
  positionPage,
  readAs,
  settlementPage,
  shardTransferPage,
} from './shapes.js';

const ASSET = 'USD';
const CENT = 10_000n;

/** Cash by shard, including what is reserved for orders, and shares of both outcomes. */
export async function readBalances(requests: VenueBRequests, user_id: string): Promise<VenueBalances> {
  const balance = readAs(bBalance, await requests.readSigned(user_id, '/portfolio/balance'));
  const { rows } = await readPages(requests, {
    ...{ user_id, path: '/portfolio/positions', query: {} },
    read: (body) => {
      const { market_positions, cursor } = readAs(positionPage, body);
      return { rows: market_positions, cursor };
    },
  });
  const shards = balance.balance_breakdown ?? [{ exchange_index: 0, balance: balance.balance_dollars }];
  return {
    cash: shards.map(({ exchange_index: shard, balance: free, ...more }) => ({
      ...{ asset: ASSET, shard },
      value: ('total_balance' in more ? more.total_balance : undefined) ?? free,
    })),
    tokens: rows.flatMap(({ ticker: market_id, position_fp: net, yes_fp, no_fp }) => {
      const yes = yes_fp ?? (net > 0n ? net : 0n);
      const no = no_fp ?? (net < 0n ? -net : 0n);
      return [
        { market_id, outcome: YES, quantity: yes },
        { market_id, outcome: NO, quantity: no },
      ].filter(({ quantity }) => quantity > 0n);
    }),
  };
}

/** The cash of each shard that is free to spend. */
export async function freeByShard(
  requests: VenueBRequests,
  user_id: string,
): Promise<ReadonlyMap<number, Micros>> {
  const { balance_breakdown: shards } = readAs(
    bBalance,
    await requests.readSigned(user_id, '/portfolio/balance'),
  );
  return new Map((shards ?? []).map(({ exchange_index, balance }) => [exchange_index, balance]));
}

/** All changes of the account's money or shares other than fills. Outgoing amounts are negative. */
export async function readMovements(
  requests: VenueBRequests,
  { user_id, account }: { readonly user_id: string; readonly account: string },
  since: Instant,
): Promise<readonly AccountMovement[]> {
  const from = Math.floor(Date.parse(since) / 1_000);
  const paged = async <Row>(
    path: string,
    read: (body: unknown) => { readonly rows: readonly Row[]; readonly cursor?: string | null | undefined },
    isOptional = false,
  ): Promise<readonly Row[]> =>
    (await readPages(requests, { user_id, path, query: { min_ts: from }, read, isOptional })).rows;
  const [deposits, settlements, shards, transfers, pairs] = await Promise.all([
    paged('/portfolio/deposits', (body) => {
      const { deposits: rows, cursor } = readAs(depositPage, body);
      return { rows, cursor };
    }),
    paged('/portfolio/settlements', (body) => {
      const { settlements: rows, cursor } = readAs(settlementPage, body);
      return { rows, cursor };
    }),
    paged('/portfolio/intra_exchange_instance_transfers', (body) => {
      const { transfers: rows, cursor } = readAs(shardTransferPage, body);
      return { rows, cursor };
    }),
    paged(
      '/portfolio/account_transfers',
      (body) => {
        const { transfers: rows, cursor } = readAs(accountTransferPage, body);
        return { rows, cursor };
      },
      true,
    ),
    paged(
      '/portfolio/pair_payments',
      (body) => {
        const { pair_payments: rows, cursor } = readAs(pairPage, body);
        return { rows, cursor };
      },
      true,
    ),
  ]);
  const all = [
    ...deposits.filter(({ status }) => status === 'applied').map(ofDeposit),
    ...settlements.flatMap(ofSettlement),
    ...shards.flatMap(ofShards),
    ...transfers.map((transfer) => ofTransfer(transfer, account)),
    ...pairs.map(ofPairs),
  ];
  return all
    .filter(({ occurred_at }) => occurred_at >= since)
    .sort((one, other) => (one.occurred_at < other.occurred_at ? -1 : 1));
}

type Row<Page, Name extends keyof Page> = Page[Name] extends readonly (infer Item)[] ? Item : never;
type SettlementRow = Row<ReturnType<typeof settlementPage.parse>, 'settlements'>;
type ShardRow = Row<ReturnType<typeof shardTransferPage.parse>, 'transfers'>;
type TransferRow = Row<ReturnType<typeof accountTransferPage.parse>, 'transfers'>;
type PairRow = Row<ReturnType<typeof pairPage.parse>, 'pair_payments'>;
type DepositRow = Row<ReturnType<typeof depositPage.parse>, 'deposits'>;

function ofDeposit({ id, amount_cents: cents, created_ts: at }: DepositRow): AccountMovement {
  return {
    ...{ reference: id, kind: 'deposit', asset: ASSET, amount: BigInt(cents) * CENT, shard: 0 },
    occurred_at: secondsInstant(at),
  };
}

function ofSettlement({ ticker, value, market_result: result, ...row }: SettlementRow): AccountMovement[] {
  const cents = value ?? (result === 'yes' ? 100 : 0);
  const yesWorth = BigInt(Math.round(cents)) * CENT;
  const paid = [
    { outcome: YES, quantity: row.yes_count_fp, worth: yesWorth },
    { outcome: NO, quantity: row.no_count_fp, worth: ONE - yesWorth },
  ];
  return paid
    .filter(({ quantity }) => quantity > 0n)
    .map(({ outcome, quantity, worth }) => ({
      ...{ reference: `settlement/${ticker}/${outcome}`, kind: 'payout', asset: ASSET, market_id: ticker },
      ...{ outcome, quantity, amount: timesMicros(quantity, worth, 'down') },
      ...(row.exchange_index === undefined || row.exchange_index === null
        ? {}
        : { shard: row.exchange_index }),
      occurred_at: instantOf(row.settled_time),
    }));
}

function ofShards({ transfer_id: id, amount, created_ts: at, ...ends }: ShardRow): AccountMovement[] {
  const both = [
    { reference: `${id}/out`, amount: -amount, shard: ends.source_exchange_shard },
    { reference: `${id}/in`, amount, shard: ends.destination_exchange_shard },
  ];
  return both.map((one) => ({ ...one, kind: 'shards', asset: ASSET, occurred_at: secondsInstant(at) }));
}

function ofPairs({ id, ticker: market_id, exchange_index: shard, ...paid }: PairRow): AccountMovement {
  return {
    ...{ reference: id, kind: 'pairs', asset: ASSET, amount: paid.amount_dollars, market_id, shard },
    ...{ quantity: paid.count_fp, occurred_at: instantOf(paid.created_time) },
  };
}

function ofTransfer({ created_ts: at, ...transfer }: TransferRow, account: string): AccountMovement {
  const isIn = transfer.to_account === account;
  return {
    ...{ reference: transfer.client_transfer_id, kind: isIn ? 'transfer-in' : 'transfer-out', asset: ASSET },
    amount: isIn ? transfer.amount_dollars : -transfer.amount_dollars,
    ...{ shard: 0, occurred_at: secondsInstant(at) },
  };
}

function secondsInstant(seconds: number): Instant {
  return instantFromNanos(BigInt(Math.floor(seconds)) * NANOS_PER_SECOND);
}

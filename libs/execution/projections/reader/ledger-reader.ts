import type { Pool } from 'pg';
import { printMicros, type Micros } from '../../rules/micros.js';
import { CAPABILITIES, VENUE_IDS, venueNamed } from '../../rules/venues.js';

export type CustodyDomain = 'vault' | 'chain' | 'kalshi_usd';

export interface LedgerQuery {
  /** A currency or a token, as callers name it. */
  readonly asset?: string;
  readonly domain?: CustodyDomain;
  readonly after?: string;
  readonly limit: number;
}

export interface LedgerEntryRecord {
  readonly entryId: string;
  readonly transactionId: string;
  readonly cause: { readonly kind: string; readonly id: string };
  readonly domain: CustodyDomain;
  readonly exchangeId?: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: string;
  readonly recordedAt: string;
}

/** The ledger's balance of one asset in one domain. A venue's two shards are added up. */
export interface LedgerBalance {
  readonly custodyDomain: CustodyDomain;
  readonly exchangeId: string;
  readonly asset: string;
  /** Includes `held` and excludes `inTransit`. */
  readonly value: string;
  readonly held: string;
  readonly inTransit: string;
  readonly isMoney: boolean;
}

/** A balance of the whole vault, to compare with what the venue shows. */
export interface ReserveRow {
  readonly exchangeId: string;
  readonly asset: string;
  readonly owed: Micros;
  readonly issued: Micros;
  readonly inTransit: Micros;
}

interface EntryRow {
  readonly entry_id: string;
  readonly transaction_id: string;
  readonly kind: string;
  readonly cause: string | null;
  readonly domain: CustodyDomain;
  readonly venue: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: string;
  readonly recorded_at: string;
}

interface BalanceSums {
  readonly domain: CustodyDomain;
  readonly venue: string;
  readonly asset: string;
  readonly value: string;
  readonly held: string;
  readonly in_transit: string;
}

const ENTRY = `
  e.entry_id::text, e.transaction_id::text, t.kind, coalesce(t.cause_id, s.award_id::text, o.reference) as cause,
  e.domain, e.venue, e.asset, e.kind as account, e.amount::text,
  to_char(t.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as recorded_at`;
const JOINED = `
  join custody.transactions t using (transaction_id)
  left join custody.settlements s using (transaction_id)
  left join custody.openings o using (transaction_id)`;

export const ENTRIES = `
  select ${ENTRY} from custody.entries e ${JOINED}
  where e.account_id = $1 and e.account_id not like 'system:%' and e.entry_id > $2::bigint order by e.entry_id limit $3`;
export const ENTRIES_OF_DOMAIN = `
  select ${ENTRY} from custody.entries e ${JOINED}
  where e.account_id = $1 and e.account_id not like 'system:%' and e.entry_id > $2::bigint and e.domain = $4 order by e.entry_id limit $3`;
/** Money in the vault has an empty asset name. It is the venue's settlement currency. */
export const ENTRIES_OF_ASSET = `
  select ${ENTRY} from (
    select e.* from unnest($4::text[]) as wanted (asset) cross join lateral (
      select e.* from custody.entries e
      where e.account_id = $1 and e.account_id not like 'system:%' and e.entry_id > $2::bigint and e.asset = wanted.asset
        and (e.asset <> '' or e.venue = any($5::text[])) and e.domain = any($6::text[])
      order by e.entry_id limit $3) e
    order by e.entry_id limit $3) e ${JOINED}
  order by e.entry_id`;
export const BALANCES = `
  select domain, venue, asset,
    coalesce(sum(amount) filter (where kind in ('available', 'held', 'position')), 0)::text as value,
    coalesce(sum(amount) filter (where kind = 'held'), 0)::text as held,
    coalesce(sum(amount) filter (where kind = 'in_transit'), 0)::text as in_transit
  from custody.balances where account_id = $1 group by 1, 2, 3 order by 1, 2, 3`;
/** Escrow keeps the money for the tokens that the issuer created. That is owed as well. */
export const RESERVES = `
  select venue, asset,
    coalesce(sum(amount) filter (where account_id not in ('system:issuer', 'system:opening') and kind <> 'in_transit'), 0)::text as owed,
    coalesce(-sum(amount) filter (where account_id = 'system:issuer'), 0)::text as issued,
    coalesce(sum(amount) filter (where kind = 'in_transit'), 0)::text as in_transit
  from custody.balances where domain = 'vault' group by 1, 2 order by 1, 2`;

const DOMAINS: readonly CustodyDomain[] = ['vault', 'chain', 'kalshi_usd'];
/** Digits of cash amounts in balances only. */
const CASH_PLACES = 2;
const NUMBER = /^\d{1,15}$/;
/** Kinds that the interface names differently. */
const CAUSES: Readonly<Record<string, string>> = { SETTLEMENT: 'AWARD' };

/** Reads one user's part of the ledger. */
export class LedgerReader {
  constructor(private readonly pool: Pool) {}

  /** In the order of entry. `no such entry` if `after` cannot be the id of an entry. */
  async entries(
    user: string,
    query: LedgerQuery,
  ): Promise<
    { readonly entries: readonly LedgerEntryRecord[]; readonly nextAfter?: string } | 'no such entry'
  > {
    const { after = '0', limit } = query;
    if (!NUMBER.test(after)) return 'no such entry';
    const { rows } = await this.pool.query<EntryRow>(entriesStatement(user, query, after));
    const entries = rows.slice(0, limit).map(entryRecord);
    const last = entries.at(-1)?.entryId;
    return { entries, ...(rows.length > limit && last !== undefined ? { nextAfter: last } : {}) };
  }

  /** All balances that exist or ever existed, including those of zero. */
  async balances(user: string): Promise<readonly LedgerBalance[]> {
    const { rows } = await this.pool.query<BalanceSums>({
      name: 'execution-balances',
      text: BALANCES,
      values: [user],
    });
    return rows.map(balanceRecord);
  }

  async reserves(): Promise<readonly ReserveRow[]> {
    const { rows } = await this.pool.query<{
      venue: string;
      asset: string;
      owed: string;
      issued: string;
      in_transit: string;
    }>({ name: 'execution-reserves', text: RESERVES, values: [] });
    return rows.map(({ venue, asset, owed, issued, in_transit }) => ({
      ...{ exchangeId: venue, asset: assetName(venue, asset) },
      ...{ owed: BigInt(owed), issued: BigInt(issued), inTransit: BigInt(in_transit) },
    }));
  }
}

function entriesStatement(
  user: string,
  { asset, domain, limit }: LedgerQuery,
  after: string,
): { name: string; text: string; values: unknown[] } {
  const values: unknown[] = [user, after, limit + 1];
  if (asset === undefined && domain === undefined)
    return { name: 'execution-entries', text: ENTRIES, values };
  if (asset === undefined) {
    return { name: 'execution-entries-of-domain', text: ENTRIES_OF_DOMAIN, values: [...values, domain] };
  }
  const settledIn = VENUE_IDS.filter((venue) => CAPABILITIES[venue].settlement_currency === asset);
  const names = settledIn.length === 0 ? [asset] : [asset, ''];
  const domains = domain === undefined ? DOMAINS : [domain];
  return {
    name: 'execution-entries-of-asset',
    text: ENTRIES_OF_ASSET,
    values: [...values, names, settledIn, domains],
  };
}

function entryRecord(row: EntryRow): LedgerEntryRecord {
  return {
    entryId: row.entry_id,
    transactionId: row.transaction_id,
    cause: { kind: CAUSES[row.kind] ?? row.kind, id: row.cause ?? '' },
    domain: row.domain,
    exchangeId: row.venue,
    asset: assetName(row.venue, row.asset),
    account: row.account,
    amount: printMicros(BigInt(row.amount)),
    recordedAt: row.recorded_at,
  };
}

function balanceRecord({ domain, venue, asset, value, held, in_transit }: BalanceSums): LedgerBalance {
  const places = isMoney(venue, asset) ? CASH_PLACES : 0;
  const print = (amount: string): string => printMicros(BigInt(amount), places);
  return {
    ...{ custodyDomain: domain, exchangeId: venue, asset: assetName(venue, asset) },
    ...{ value: print(value), held: print(held), inTransit: print(in_transit) },
    isMoney: isMoney(venue, asset),
  };
}

function currencyOf(venue: string): string {
  const named = venueNamed(venue);
  return named === undefined ? 'USD' : CAPABILITIES[named.venue].settlement_currency;
}

function assetName(venue: string, asset: string): string {
  return asset === '' ? currencyOf(venue) : asset;
}

function isMoney(venue: string, asset: string): boolean {
  return assetName(venue, asset) === currencyOf(venue);
}

import type { ClientBase } from 'pg';
import { LIVE, type SchemaOf } from '#libs/projecting/projection.js';
import type { ListingStatus } from '../rules/events.js';
import { readMarket, writeMarket } from '../rules/event-codec.js';
import { type FoldedMarket, resolutionOf, statusOf } from '../rules/markets.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';
import { numbersOf } from './instruments.js';

type Client = Pick<ClientBase, 'query'>;

export interface StoredMarket {
  readonly marketNo: number;
  readonly state: FoldedMarket;
}

/** A market status that an event carried. */
export interface SaidStatusRow {
  readonly marketNo: number;
  readonly source_ts: number;
  readonly source_id: string;
  readonly type: 'MARKET' | 'STATUS' | 'RESOLUTION';
  readonly status: ListingStatus;
}

interface IdRow {
  readonly id: string;
  readonly kind: 'market' | 'condition' | 'token' | 'ticker';
  readonly outcome_index: number | null;
}

/** All ids of the market, including tokens of former MARKET events. */
function idsOf({ market_id, details, names }: FoldedMarket): IdRow[] {
  const { condition_id, ticker } = details;
  return [
    { id: market_id, kind: 'market', outcome_index: null },
    ...(condition_id === undefined
      ? []
      : [{ id: condition_id, kind: 'condition' as const, outcome_index: null }]),
    ...(ticker === undefined ? [] : [{ id: ticker, kind: 'ticker' as const, outcome_index: null }]),
    ...names.flatMap(({ token_ids }, index) =>
      token_ids.map((id) => ({ id, kind: 'token' as const, outcome_index: index })),
    ),
  ];
}

/** Stores markets with their ids, statuses and resolutions. */
export class MarketTable {
  private readonly schema: string;

  constructor(schemaOf: SchemaOf = LIVE) {
    this.schema = schemaOf('data');
  }

  /** By market id. */
  async find(
    client: Client,
    provider: Provider,
    marketIds: readonly string[],
  ): Promise<Map<string, StoredMarket>> {
    if (marketIds.length === 0) return new Map();
    const { rows } = await client.query<{ market_no: number; market_id: string; state: unknown }>(
      `select market_no, market_id, state from ${this.schema}.markets where provider = $1 and market_id = any ($2::text[])`,
      [PROVIDERS.indexOf(provider), marketIds],
    );
    return new Map(
      rows.map(({ market_no, market_id, state }) => [
        market_id,
        { marketNo: market_no, state: readMarket(state) },
      ]),
    );
  }

  /** The number of the provider's newest market, or the number before its first. */
  async lastNumber(client: Client, provider: Provider): Promise<number> {
    const [after, before] = numbersOf(provider);
    const { rows } = await client.query<{ market_no: number }>(
      `select market_no from ${this.schema}.markets where market_no > $1 and market_no < $2 order by market_no desc limit 1`,
      [after, before],
    );
    return rows[0]?.market_no ?? after;
  }

  async write(client: Client, provider: Provider, markets: readonly StoredMarket[]): Promise<void> {
    if (markets.length === 0) return;
    const shard = PROVIDERS.indexOf(provider);
    const states = markets.map(({ state }) => state);
    const numbers = markets.map(({ marketNo }) => marketNo);
    await client.query(
      `insert into ${this.schema}.markets as known (market_no, provider, market_id, status, event_id, listed_at, expires_at, state)
       select market_no, $1, market_id, status, event_id, listed_at, expires_at, state::jsonb
       from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[])
         as market (market_no, market_id, status, event_id, listed_at, expires_at, state)
       on conflict (market_no) do update set status = excluded.status, event_id = excluded.event_id,
         listed_at = excluded.listed_at, expires_at = excluded.expires_at, state = excluded.state`,
      [
        ...[shard, numbers, states.map(({ market_id }) => market_id), states.map(statusOf)],
        states.map(({ details }) => details.event_id ?? null),
        states.map(({ details }) => details.listed_at ?? null),
        states.map(({ details }) => details.expires_at ?? null),
        states.map(writeMarket),
      ],
    );
    await this.writeIds(client, shard, markets);
    await this.writeResolutions(client, shard, markets);
  }

  private async writeIds(client: Client, shard: number, markets: readonly StoredMarket[]): Promise<void> {
    const ids = markets.flatMap(({ marketNo, state }) => idsOf(state).map((row) => ({ marketNo, ...row })));
    await client.query(
      `with named as (
         select * from unnest($2::bigint[], $3::text[], $4::text[], $5::smallint[]) as named (market_no, id, kind, outcome_index)
       ), gone as (
         delete from ${this.schema}.market_ids known where market_no = any ($2::bigint[])
           and not exists (select from named where (named.market_no, named.id, named.kind) = (known.market_no, known.id, known.kind))
       )
       insert into ${this.schema}.market_ids (provider, id, kind, market_no, outcome_index)
       select $1, id, kind, market_no, outcome_index from named on conflict do nothing`,
      [
        ...[shard, ids.map(({ marketNo }) => marketNo), ids.map(({ id }) => id), ids.map(({ kind }) => kind)],
        ids.map(({ outcome_index }) => outcome_index),
      ],
    );
  }

  private async writeResolutions(
    client: Client,
    shard: number,
    markets: readonly StoredMarket[],
  ): Promise<void> {
    for (const { marketNo, state } of markets) {
      const resolution = resolutionOf(state);
      if (resolution === undefined) continue;
      const { status, payouts, outcome_index, resolved_at, settled_at, source_url, disputed } = resolution;
      await client.query(
        `insert into ${this.schema}.resolutions
           (market_no, provider, status, payouts, outcome_index, resolved_at, settled_at, source_url, disputed)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (market_no) do update set status = excluded.status, payouts = excluded.payouts,
           outcome_index = excluded.outcome_index, resolved_at = excluded.resolved_at, settled_at = excluded.settled_at,
           source_url = excluded.source_url, disputed = excluded.disputed`,
        [marketNo, shard, status, payouts, outcome_index, resolved_at, settled_at, source_url, disputed],
      );
    }
  }

  async writeStatuses(client: Client, rows: readonly SaidStatusRow[]): Promise<void> {
    if (rows.length === 0) return;
    await client.query(
      `insert into ${this.schema}.statuses (market_no, source_ts, source_id, type, status)
       select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
       on conflict do nothing`,
      [
        ...[rows.map(({ marketNo }) => marketNo), rows.map(({ source_ts }) => source_ts)],
        ...[
          rows.map(({ source_id }) => source_id),
          rows.map(({ type }) => type),
          rows.map(({ status }) => status),
        ],
      ],
    );
  }
}

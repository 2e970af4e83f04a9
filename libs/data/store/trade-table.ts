import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import { LIVE, type SchemaOf } from '#libs/projecting/projection.js';
import type { TradeEvent } from '../rules/events.js';
import { PROVIDER_FACTS, PROVIDERS, type Provider } from '../rules/providers.js';
import { candleUpsert, MICROS, minutesOf, rolledUp } from './candle-statements.js';
import { instrumentOf, numbersOf } from './instruments.js';

type Client = Pick<ClientBase, 'query'>;

export interface TradeRow {
  readonly instrument: number;
  readonly event: TradeEvent;
}

/** A number for a trade whose venue gives none. It must be the same each time. */
export function madeSeq(sourceId: string): bigint {
  return createHash('sha256').update(sourceId).digest().readBigUInt64BE() & 0x7fff_ffff_ffff_ffffn;
}

interface TouchedBucket {
  readonly instrument: number;
  readonly ts: number;
}

/** With `later`, candles are made after all trades are stored, which is much cheaper. */
export type CandlesMade = 'at once' | 'later';

/** Stores trades and their candles. */
export class TradeTable {
  private readonly schema: string;

  constructor(
    schemaOf: SchemaOf = LIVE,
    private readonly candles: CandlesMade = 'at once',
  ) {
    this.schema = schemaOf('data');
  }

  /** Trades already stored change nothing. One statement stores new trades and updates all their candles. */
  async add(client: Client, provider: Provider, trades: readonly TradeRow[]): Promise<void> {
    if (trades.length === 0) return;
    const events = trades.map(({ event }) => event);
    await client.query('select data.make_months($1, $2)', [this.schema, momentsOf(events)]);
    await client.query({
      name: `${this.schema}-trades, candles ${this.candles}`,
      text: insertStatement(this.schema, this.candles),
      values: [
        ...[PROVIDERS.indexOf(provider), PROVIDER_FACTS[provider].isSingleBook],
        ...[trades.map(({ instrument }) => instrument), events.map(({ source_ts }) => source_ts)],
        events.map(({ seq, source_id }) => seq ?? madeSeq(source_id)),
        ...[events.map(({ source_id }) => source_id), events.map(({ price }) => price)],
        ...[events.map(({ size }) => size), events.map(({ side }) => side ?? null)],
        ...[events.map(({ maker }) => maker ?? null), events.map(({ taker }) => taker ?? null)],
        ...[events.map(({ tx_hash }) => tx_hash ?? null), events.map(({ seq }) => seq !== undefined)],
      ],
    });
  }

  /**
   * Applies to stored trades and to trades that arrive later. Candles of stored trades are computed again from the trades that
   * remain.
   */
  async bust(client: Client, provider: Provider, tradeSourceIds: readonly string[]): Promise<void> {
    if (tradeSourceIds.length === 0) return;
    await client.query(
      `insert into ${this.schema}.busts (provider, trade_source_id) select $1, unnest($2::text[]) on conflict do nothing`,
      [PROVIDERS.indexOf(provider), tradeSourceIds],
    );
    const [after, before] = numbersOf(provider);
    const { rows } = await client.query<TouchedBucket>(
      `update ${this.schema}.trades set is_busted = true
       where source_id = any ($1::text[]) and not is_busted and instrument >= $2 and instrument < $3
       returning instrument, ts`,
      [tradeSourceIds, instrumentOf(after, 0), instrumentOf(before, 0)],
    );
    await this.recompute(client, provider, rows);
  }

  /** Makes candles of all stored trades, where there are none yet. A day lies within one month, so each month is done by itself. */
  async makeCandles(client: Client): Promise<void> {
    const { rows } = await client.query<{ month: string }>(
      `select inhrelid::regclass::text as month from pg_inherits where inhparent = '${this.schema}.trades'::regclass order by 1`,
    );
    for (const { month } of rows) {
      for (const provider of PROVIDERS) {
        const [after, before] = numbersOf(provider);
        const of = `${month} where not is_busted and instrument >= ${instrumentOf(after, 0)} and instrument < ${instrumentOf(before, 0)}`;
        const { isSingleBook } = PROVIDER_FACTS[provider];
        await client.query(
          `with ${allCandlesOf(of, String(isSingleBook))} ${candleUpsert(this.schema, 'candle')}`,
        );
      }
    }
  }

  private async recompute(
    client: Client,
    provider: Provider,
    touched: readonly TouchedBucket[],
  ): Promise<void> {
    if (touched.length === 0 || this.candles === 'later') return;
    const { isSingleBook } = PROVIDER_FACTS[provider];
    for (const statement of recomputeStatements(this.schema)) {
      await client.query(statement, [
        isSingleBook,
        touched.map(({ instrument }) => instrument),
        touched.map(({ ts }) => ts),
      ]);
    }
  }
}

/** One time per day is enough to find every month. */
function momentsOf(events: readonly TradeEvent[]): number[] {
  const day = 24 * 3_600 * MICROS;
  return [...new Set(events.map(({ source_ts }) => Math.floor(source_ts / day) * day))];
}

/** A late trade of a dropped month stays in the journal only. */
function insertStatement(schema: string, candles: CandlesMade): string {
  const inserted = `
  with given as (
    select * from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::integer[], $8::bigint[], $9::text[],
        $10::text[], $11::text[], $12::text[], $13::boolean[])
      as trade (instrument, ts, seq, source_id, price, size, side, maker, taker, tx_hash, has_seq)
  ),
  fresh as (
    insert into ${schema}.trades (instrument, ts, seq, source_id, price, size, side, maker, taker, tx_hash, has_seq, is_busted)
    select given.*, bust.provider is not null
    from given left join ${schema}.busts bust on bust.provider = $1 and bust.trade_source_id = given.source_id
    where given.ts >= coalesce((select before_ts from ${schema}.dropped), given.ts)
    order by instrument, ts
    on conflict do nothing
    returning instrument, ts, seq, source_id, price, size, is_busted
  )`;
  if (candles === 'later') return `${inserted} select $2::boolean from fresh limit 0`;
  return `${inserted}, ${allCandlesOf('fresh where not is_busted', '$2')} ${candleUpsert(schema, 'candle')}`;
}

/** Candles of all stored timeframes, as `candle`. */
function allCandlesOf(trades: string, isSingleBook: string): string {
  return `
  minutes as (${minutesOf(trades, isSingleBook)}),
  hours as (${rolledUp('minutes', 3_600)}),
  days as (${rolledUp('hours', 86_400)}),
  candle as (
    select 60 as timeframe, * from minutes union all select 3600, * from hours union all select 86400, * from days
  )`;
}

/**
 * Each timeframe is deleted and made again from the one below. Separate statements, because a statement does not see its own
 * deletes.
 */
function recomputeStatements(schema: string): string[] {
  const touched = (seconds: number): string => `
    select distinct instrument - case when $1::boolean and instrument % 64 = 1 then 1 else 0 end as instrument,
      ts - mod(mod(ts, ${seconds * MICROS}) + ${seconds * MICROS}, ${seconds * MICROS}) as bucket
    from unnest($2::bigint[], $3::bigint[]) as busted (instrument, ts)`;
  const gone = (seconds: number): string => `
    delete from ${schema}.candles candle using (${touched(seconds)}) as touched
    where candle.instrument = touched.instrument and candle.timeframe = ${seconds} and candle.bucket = touched.bucket`;
  const within = (column: string, seconds: number): string =>
    `${column} >= touched.bucket and ${column} < touched.bucket + ${seconds * MICROS}`;
  const left = `(select trade.* from (${touched(60)}) as touched join ${schema}.trades trade
      on trade.instrument in (touched.instrument, touched.instrument + case when $1::boolean then 1 else 0 end)
      and ${within('trade.ts', 60)} where not trade.is_busted) as left_over`;
  const finer = (seconds: number, from: number): string =>
    `(select candle.* from (${touched(seconds)}) as touched join ${schema}.candles candle
      on candle.instrument = touched.instrument and candle.timeframe = ${from} and ${within('candle.bucket', seconds)}) as finer`;
  const made = (seconds: number, text: string): string =>
    `with made as (${text}), candle as (select ${seconds} as timeframe, * from made) ${candleUpsert(schema, 'candle')}`;
  return [
    ...[gone(60), made(60, minutesOf(left, '$1::boolean'))],
    ...[gone(3_600), made(3_600, rolledUp(finer(3_600, 60), 3_600))],
    ...[gone(86_400), made(86_400, rolledUp(finer(86_400, 3_600), 86_400))],
  ];
}

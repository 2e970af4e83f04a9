import type { Pool } from 'pg';
import { PROVIDER_FACTS, type Provider } from '../rules/providers.js';
import { looseParts, partsOf, windowUpTo, type WindowPart } from '../rules/window-parts.js';
import { instrumentOf } from './instruments.js';
import type { FoundMarket } from './market-reader.js';

export interface WindowWish {
  readonly seconds: number;
  /** Microseconds. */
  readonly now: number;
}

export interface TotalVolume {
  readonly cash: bigint;
  readonly trades: bigint;
}

interface CashRow {
  readonly instrument: number;
  readonly cash: string;
  readonly trades: string;
}

const CASH = 'div(2 * price::numeric * size + 1000000, 2000000)';
const candles = (seconds: number, span: number): string => `
  select instrument, cash, trades from data.candles
  where instrument = any ($1::bigint[]) and timeframe = ${seconds} and bucket >= $${span}::bigint and bucket < $${span + 1}::bigint`;
const trades = (span: number): string => `
  select instrument, ${CASH}, 1 from data.trades
  where instrument = any ($1::bigint[]) and not is_busted and ts >= $${span}::bigint and ts < $${span + 1}::bigint`;

const summed = (parts: readonly string[]): string => `
  select instrument, sum(cash)::text as cash, sum(trades)::text as trades
  from (${parts.join(' union all ')}) as part (instrument, cash, trades)
  group by instrument`;

export const WINDOW_VOLUMES = summed([
  candles(3_600, 2),
  candles(60, 4),
  candles(60, 6),
  trades(8),
  trades(10),
]);
export const DAY_VOLUMES = summed([
  'select instrument, cash, trades from data.candles where instrument = any ($1::bigint[]) and timeframe = 86400',
]);
export const TRADE_VOLUMES = summed([
  `select instrument, ${CASH}, 1 from data.trades where instrument = any ($1::bigint[]) and not is_busted`,
]);

const NOTHING: TotalVolume = { cash: 0n, trades: 0n };
const MIRRORED = 1;

/**
 * Sums what was traded, in micro-dollars: each trade once, at its price. Sums come from candles, and from trades where no candle
 * fits. In a single-book market candles hold both outcomes, so single outcomes are summed from trades.
 */
export class VolumeReader {
  constructor(private readonly pool: Pool) {}

  /** Volumes of the window (now - seconds, now], by market number and outcome index. */
  async window(
    provider: Provider,
    markets: readonly FoundMarket[],
    { seconds, now }: WindowWish,
  ): Promise<ReadonlyMap<number, readonly bigint[]>> {
    const sums = await this.between(provider, markets.flatMap(instrumentsOf), windowUpTo(now, seconds));
    return new Map(
      markets.map((market) => [
        market.marketNo,
        instrumentsOf(market).map((instrument) => (sums.get(instrument) ?? NOTHING).cash),
      ]),
    );
  }

  /** Volumes of any span, by instrument. An instrument without trades has no entry. */
  between(
    provider: Provider,
    instruments: readonly number[],
    whole: WindowPart,
  ): Promise<ReadonlyMap<number, TotalVolume>> {
    const parts = PROVIDER_FACTS[provider].isSingleBook ? looseParts(whole) : partsOf(whole);
    const spans: readonly WindowPart[] = [parts.hours, ...parts.minutes, ...parts.rest];
    return this.sums('data-window-volumes', WINDOW_VOLUMES, instruments, spans);
  }

  /** Volumes since listing, in the order of the request: of the market, or of the outcome that a token id names. */
  async totals(provider: Provider, requested: readonly FoundMarket[]): Promise<readonly TotalVolume[]> {
    const { isSingleBook } = PROVIDER_FACTS[provider];
    const alone = isSingleBook
      ? requested.flatMap(({ marketNo, outcomeIndex }) =>
          outcomeIndex === undefined ? [] : [instrumentOf(marketNo, MIRRORED)],
        )
      : [];
    const [days, mirrored] = await Promise.all([
      this.sums('data-total-volumes', DAY_VOLUMES, requested.flatMap(instrumentsOf)),
      this.sums('data-outcome-volumes', TRADE_VOLUMES, alone),
    ]);
    return requested.map((market) => {
      const { marketNo, outcomeIndex } = market;
      const byOutcome = instrumentsOf(market).map((instrument) => days.get(instrument) ?? NOTHING);
      if (outcomeIndex === undefined) return byOutcome.reduce(sumOf, NOTHING);
      const series = byOutcome[outcomeIndex] ?? NOTHING;
      if (!isSingleBook || outcomeIndex > MIRRORED) return series;
      const other = mirrored.get(instrumentOf(marketNo, MIRRORED)) ?? NOTHING;
      return outcomeIndex === MIRRORED
        ? other
        : { cash: series.cash - other.cash, trades: series.trades - other.trades };
    });
  }

  private async sums(
    name: string,
    text: string,
    instruments: readonly number[],
    spans: readonly WindowPart[] = [],
  ): Promise<ReadonlyMap<number, TotalVolume>> {
    if (instruments.length === 0) return new Map();
    const values = [[...new Set(instruments)], ...spans.flatMap(({ start, end }) => [start, end])];
    const { rows } = await this.pool.query<CashRow>({ name, text, values });
    return new Map(
      rows.map(({ instrument, cash, trades: many }) => [
        instrument,
        { cash: BigInt(cash), trades: BigInt(many) },
      ]),
    );
  }
}

function instrumentsOf({ marketNo, state }: FoundMarket): number[] {
  return state.outcomes.map((_outcome, index) => instrumentOf(marketNo, index));
}

function sumOf(one: TotalVolume, other: TotalVolume): TotalVolume {
  return { cash: one.cash + other.cash, trades: one.trades + other.trades };
}

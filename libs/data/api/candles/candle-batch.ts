import { MOST_ESTIMATED_BARS } from '../../rules/candles.js';
import { coverageText } from '../../rules/coverage.js';
import type { Provider } from '../../rules/providers.js';
import { isoTime } from '../../rules/times.js';
import type { FoundMarket, MarketReader } from '../../store/market-reader.js';
import { refuse, RefusedRead } from '../refusals.js';
import { type AskedCandles, type MeaninglessAsk, planOf, type PlannedCandles } from './candle-ask.js';
import type { CandleDesk } from './candle-desk.js';
import { inTurn, type OpenedPart } from './in-turn.js';

export interface CandleBatchPorts {
  readonly markets: Pick<MarketReader, 'find'>;
  readonly desk: CandleDesk;
  readonly onFault: (what: string, error: unknown) => void;
}

/** One item of the batch: candles to read, or a reason why not. */
type Item = PlannedCandles | MeaninglessAsk | FailedItem;

/** A failure on our side. */
interface FailedItem {
  readonly failed: true;
}

const CONCURRENT_READS = 4;
/** After this many failures and no success, the remaining items are not tried: each might take as long as the first. */
const GIVE_UP_AFTER = 8;
const INTERNAL = 'An internal error occurred. Please try again later.';

type FoundMarkets = ReadonlyMap<string, FoundMarket> | undefined;

/** Answers many series in one streamed reply, which is never in memory as a whole. */
export class CandleBatch {
  constructor(private readonly ports: CandleBatchPorts) {}

  /** Resolves with the text of the reply as soon as one item has succeeded. */
  async answer(
    queries: readonly (AskedCandles | MeaninglessAsk)[],
    now: number,
  ): Promise<{ readonly chunks: AsyncIterable<string>; readonly providers: ReadonlySet<Provider> }> {
    const items = await this.planned(queries, now);
    const plans = items.filter(isPlan);
    const bars = plans.reduce((sum, plan) => sum + plan.bars, 0);
    if (bars > MOST_ESTIMATED_BARS) {
      throw refuse(400, `Estimated bars ${String(bars)} exceed the limit of ${String(MOST_ESTIMATED_BARS)}`);
    }
    const parts = inTurn(this.openings(items), CONCURRENT_READS);
    const failed: string[] = [];
    for (;;) {
      const next = await parts.next();
      if (next.done === true) throw refuse(500, INTERNAL);
      if (!next.value.hasFailed) {
        const providers = new Set(plans.map(({ provider }) => provider));
        return { chunks: textOf(failed, next.value, parts), providers };
      }
      failed.push(next.value.text);
    }
  }

  private async planned(queries: readonly (AskedCandles | MeaninglessAsk)[], now: number): Promise<Item[]> {
    const wanted = Map.groupBy(queries.filter(isQuery), ({ provider }) => provider);
    const found = new Map<Provider, FoundMarkets>();
    for (const [provider, queriesOfProvider] of wanted)
      found.set(provider, await this.find(provider, queriesOfProvider));
    return queries.map((query) => {
      if (!isQuery(query)) return query;
      const markets = found.get(query.provider);
      return markets === undefined ? { failed: true } : planOf(query, markets.get(query.contract_id), now);
    });
  }

  private async find(provider: Provider, queries: readonly AskedCandles[]): Promise<FoundMarkets> {
    try {
      return await this.ports.markets.find(
        provider,
        queries.map(({ contract_id }) => contract_id),
      );
    } catch (error) {
      this.ports.onFault('markets of a batch of candles', error);
      return undefined;
    }
  }

  private *openings(items: readonly Item[]): Generator<() => Promise<OpenedPart>> {
    const counts = { failed: 0, answered: 0 };
    for (const [index, item] of items.entries()) {
      yield async () => {
        const isGivenUp = counts.answered === 0 && counts.failed >= GIVE_UP_AFTER;
        const part = isGivenUp && isPlan(item) ? failedPart(index) : await this.open(index, item);
        counts[part.hasFailed ? 'failed' : 'answered'] += 1;
        return part;
      };
    }
  }

  private async open(index: number, item: Item): Promise<OpenedPart> {
    if ('failed' in item) return failedPart(index);
    if ('refused' in item) return { hasFailed: false, text: errorText(index, item.refused) };
    try {
      return await this.opened(index, item);
    } catch (error) {
      if (!(error instanceof RefusedRead)) this.ports.onFault('candles of a batch', error);
      return failedPart(index);
    }
  }

  private async opened(index: number, plan: PlannedCandles): Promise<OpenedPart> {
    const coverage = await this.ports.desk.coverage(plan);
    const texts = this.ports.desk.texts(plan);
    const first = await texts.next();
    const from = coverage.history_from === null ? 'null' : `"${isoTime(coverage.history_from)}"`;
    const tail = `],"coverage":"${coverageText(coverage)}","history_from":${from}}`;
    const head = `{"index":${String(index)},"candles":[`;
    if (first.done === true) return { hasFailed: false, text: `${head}${tail}` };
    return { hasFailed: false, text: `${head}${first.value}`, rest: restOf(texts, tail) };
  }
}

async function* restOf(texts: AsyncGenerator<string>, tail: string): AsyncGenerator<string> {
  for await (const text of texts) yield `,${text}`;
  yield tail;
}

async function* textOf(
  failed: readonly string[],
  first: OpenedPart,
  others: AsyncGenerator<OpenedPart>,
): AsyncGenerator<string> {
  try {
    yield `{"results":[${failed.map((text) => `${text},`).join('')}`;
    yield* wholePart(first);
    for await (const part of others) {
      yield ',';
      yield* wholePart(part);
    }
    yield ']}';
  } finally {
    await others.return(undefined);
  }
}

async function* wholePart({ text, rest }: OpenedPart): AsyncGenerator<string> {
  yield text;
  if (rest !== undefined) yield* rest;
}

function errorText(index: number, error: string): string {
  return JSON.stringify({ index, candles: [], error });
}

function failedPart(index: number): OpenedPart {
  return { hasFailed: true, text: errorText(index, INTERNAL) };
}

function isQuery(query: AskedCandles | MeaninglessAsk): query is AskedCandles {
  return 'provider' in query;
}

function isPlan(item: Item): item is PlannedCandles {
  return 'window' in item;
}

import { FairQueue } from '#libs/edge/fair-queue.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { entityTag, type Reply } from '#libs/edge/reply/reply.js';
import { clampedWindow, isEmptyWindow } from '../../rules/candles.js';
import { type Coverage, coverageText } from '../../rules/coverage.js';
import { isoTime } from '../../rules/times.js';
import type { CoverageReader } from '../../store/coverage-reader.js';
import type { MarketReader } from '../../store/market-reader.js';
import { refuse } from '../refusals.js';
import { dataReply } from '../replies.js';
import { type AskedCandles, BACKWARDS, planOf, type PlannedCandles } from './candle-ask.js';
import type { CandleDesk } from './candle-desk.js';
import { KeptCandles, type KeptText } from './kept-candles.js';
import { NextTurn } from './next-turn.js';

export interface CandleReplyPorts {
  readonly markets: Pick<MarketReader, 'find'>;
  readonly desk: CandleDesk;
  readonly coverage: Pick<CoverageReader, 'named'>;
  readonly clock: Clock;
}

interface ReadCandles {
  readonly coverage: Coverage;
  /** The cached object itself, if it came from the cache. */
  readonly text: Pick<KeptText, 'candles'>;
}

interface ShownBody {
  readonly from: number | null;
  readonly body: string;
  readonly etag: string;
}

/** Of one account, at once. They wait for no other system, so a long one keeps its share. */
const UNCACHED_READS = { readsPerAccount: 4, readPatience: 60_000 };
const CLOSED = 'private, max-age=60';
const FORMING = 'no-cache';

/**
 * Replies with candles of one series. Texts of closed buckets are cached. A cached text is sent again only after the store has
 * confirmed, later than the request arrived, that nothing in it has changed.
 */
export class CandleReplies {
  private readonly cache = new KeptCandles();
  private readonly coalescer = new NextTurn<ReadCandles>();
  private readonly bodies = new WeakMap<object, ShownBody>();

  private readonly reads: FairQueue;

  constructor(private readonly ports: CandleReplyPorts) {
    this.reads = new FairQueue(UNCACHED_READS, ports.clock);
  }

  /** `account`: whose share an uncached reply takes; undefined on the companion listener, which knows no callers. */
  async of(query: AskedCandles, now: number, account?: string): Promise<Reply> {
    const { timeframe_seconds: timeframe, provider, rebuild } = query;
    const window = clampedWindow(query, timeframe, now);
    if (window === undefined) throw refuse(400, BACKWARDS);
    const key = JSON.stringify([provider, query.contract_id, timeframe, query.outcome, window]);
    if (rebuild) this.cache.drop(key);
    const isKept = !rebuild && window.end <= now && !isEmptyWindow(window, timeframe, now);
    const read = isKept
      ? await this.coalescer.ask(key, () => this.current(key, query, now, account))
      : await this.inTurn(account, async () => this.read(await this.planned(query, now)));
    const { body, etag } = this.bodyOf(read);
    return dataReply(body, {
      cache: window.end > now ? FORMING : CLOSED,
      providers: [provider],
      headers: { 'x-data-coverage': coverageText(read.coverage), etag },
    });
  }

  /** Made once, and reused as long as `history_from` stays the same. */
  private bodyOf({ text, coverage: { history_from } }: ReadCandles): ShownBody {
    const known = this.bodies.get(text);
    if (known?.from === history_from) return known;
    const from = history_from === null ? 'null' : `"${isoTime(history_from)}"`;
    const body = `{"candles":[${text.candles}],"history_from":${from}}`;
    const made = { from: history_from, body, etag: `W/${entityTag(body)}` };
    this.bodies.set(text, made);
    return made;
  }

  private async current(
    key: string,
    query: AskedCandles,
    now: number,
    account: string | undefined,
  ): Promise<ReadCandles> {
    const read = (): Promise<ReadCandles> => this.inTurn(account, () => this.readAndCache(key, query, now));
    const cached = this.cache.find(key, now);
    if (cached?.plan.market === undefined) return read();
    const { coverage, version } = await this.ports.desk.versioned(
      { ...cached.plan, now },
      cached.plan.market,
    );
    return version === cached.version ? { coverage, text: cached } : read();
  }

  private inTurn<T>(account: string | undefined, read: () => Promise<T>): Promise<T> {
    return account === undefined ? read() : this.reads.take(account, 1, read);
  }

  /** The id must name the same market before and after the market was read. Only then does the version belong to that market. */
  private async readAndCache(key: string, query: AskedCandles, now: number): Promise<ReadCandles> {
    const before = await this.ports.coverage.named(query.provider, query.contract_id);
    const plan = await this.planned(query, now);
    if (plan.market === undefined) return this.read(plan);
    const { coverage, version, named } = await this.ports.desk.versioned(plan, plan.market);
    const text = { plan, version, candles: await this.textOf(plan) };
    if (named !== null && named === before) this.cache.keep(key, text);
    return { coverage, text };
  }

  private async planned(query: AskedCandles, now: number): Promise<PlannedCandles> {
    const { provider, contract_id } = query;
    const found = await this.ports.markets.find(provider, [contract_id]);
    const plan = planOf(query, found.get(contract_id), now);
    if ('refused' in plan) throw refuse(400, plan.refused);
    return plan;
  }

  private async read(plan: PlannedCandles): Promise<ReadCandles> {
    const coverage = await this.ports.desk.coverage(plan);
    return { coverage, text: { candles: await this.textOf(plan) } };
  }

  private async textOf(plan: PlannedCandles): Promise<string> {
    const texts: string[] = [];
    for await (const text of this.ports.desk.texts(plan)) texts.push(text);
    return texts.join(',');
  }
}

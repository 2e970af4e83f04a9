import { FairQueue } from '#libs/edge/fair-queue.js';
import { SERVER_LIMITS } from '#libs/edge/server/server-limits.js';
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
  /** The kept one itself, where it was kept. */
  readonly text: Pick<KeptText, 'candles'>;
}

interface ShownBody {
  readonly from: number | null;
  readonly body: string;
  readonly etag: string;
}

/** That are not kept, at once. */
const READS_OF_AN_ACCOUNT = 4;
const CLOSED = 'private, max-age=60';
const FORMING = 'no-cache';

/**
 * Replies with candles of one series. Those of closed buckets are kept, and given again only after the store has said, later than they
 * were asked for, that nothing has changed in them.
 */
export class CandleReplies {
  private readonly kept = new KeptCandles();
  private readonly turns = new NextTurn<ReadCandles>();
  private readonly bodies = new WeakMap<object, ShownBody>();

  private readonly reads: FairQueue;

  constructor(private readonly ports: CandleReplyPorts) {
    this.reads = new FairQueue({ ...SERVER_LIMITS, readsPerAccount: READS_OF_AN_ACCOUNT }, ports.clock);
  }

  /** `account`: whose share a reply takes that is not kept; undefined where callers are not known. */
  async of(asked: AskedCandles, now: number, account?: string): Promise<Reply> {
    const { timeframe_seconds: timeframe, provider, rebuild } = asked;
    const window = clampedWindow(asked, timeframe, now);
    if (window === undefined) throw refuse(400, BACKWARDS);
    const key = JSON.stringify([provider, asked.contract_id, timeframe, asked.outcome, window]);
    if (rebuild) this.kept.drop(key);
    const isKept = !rebuild && window.end <= now && !isEmptyWindow(window, timeframe, now);
    const read = isKept
      ? await this.turns.ask(key, () => this.current(key, asked, now, account))
      : await this.inTurn(account, async () => this.read(await this.planned(asked, now)));
    const { body, etag } = this.bodyOf(read);
    return dataReply(body, {
      cache: window.end > now ? FORMING : CLOSED,
      providers: [provider],
      headers: { 'x-data-coverage': coverageText(read.coverage), etag },
    });
  }

  /** Made once as long as it stays the same. */
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
    asked: AskedCandles,
    now: number,
    account: string | undefined,
  ): Promise<ReadCandles> {
    const read = (): Promise<ReadCandles> => this.inTurn(account, () => this.readToKeep(key, asked, now));
    const kept = this.kept.find(key, now);
    if (kept?.plan.market === undefined) return read();
    const { coverage, version } = await this.ports.desk.versioned({ ...kept.plan, now }, kept.plan.market);
    return version === kept.version ? { coverage, text: kept } : read();
  }

  private inTurn<T>(account: string | undefined, read: () => Promise<T>): Promise<T> {
    return account === undefined ? read() : this.reads.take(account, 1, read);
  }

  /** What the id stands for must be the same before and after its market was read: then the market is of that version. */
  private async readToKeep(key: string, asked: AskedCandles, now: number): Promise<ReadCandles> {
    const before = await this.ports.coverage.named(asked.provider, asked.contract_id);
    const plan = await this.planned(asked, now);
    if (plan.market === undefined) return this.read(plan);
    const { coverage, version, named } = await this.ports.desk.versioned(plan, plan.market);
    const text = { plan, version, candles: await this.textOf(plan) };
    if (named !== null && named === before) this.kept.keep(key, text);
    return { coverage, text };
  }

  private async planned(asked: AskedCandles, now: number): Promise<PlannedCandles> {
    const { provider, contract_id } = asked;
    const found = await this.ports.markets.find(provider, [contract_id]);
    const plan = planOf(asked, found.get(contract_id), now);
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

import type { Bar, CandleWindow } from '../../rules/candles.js';
import { PROVIDERS, type Provider } from '../../rules/providers.js';
import { isoTime } from '../../rules/times.js';
import type { AlarmTable } from '../../store/alarm-table.js';
import type { CandleReader, CandleSeries } from '../../store/candle-reader.js';
import { refuse } from '../refusals.js';
import { Turnstile } from './turnstile.js';

export interface CandleRebuildPorts {
  readonly candles: Pick<CandleReader, 'recompute'>;
  readonly alarms: Pick<AlarmTable, 'add'>;
  /** An alarm could not be written; the reply is right nevertheless. */
  readonly onFault: (what: string, error: unknown) => void;
  readonly onApart: (provider: Provider, detail: string) => void;
}

const AT_ONCE = 4;
const WAITING = 256;
/** Alarms are kept a hundred of each provider: one series may not push out all others. */
const TOLD_AGAIN_AFTER = 3_600_000_000;
const MOST_TOLD = 1_000;

/** Candles recomputed from the trades, few at a time. What is stored otherwise is told, and repaired by operators. */
export class CandleRebuilds {
  private readonly turnstile = new Turnstile(AT_ONCE, WAITING);
  /** When each series was last told of. */
  private readonly told = new Map<string, number>();

  constructor(private readonly ports: CandleRebuildPorts) {}

  async rebuild(series: CandleSeries, window: CandleWindow, now: number): Promise<readonly Bar[]> {
    const read = await this.turnstile.pass(() => this.ports.candles.recompute(series, window));
    if (read === undefined) throw refuse(503, 'Too many candles are being rebuilt');
    const [first] = read.apart;
    if (first !== undefined) await this.tell(series, now, first, read.apart.length);
    return read.bars;
  }

  private async tell(series: CandleSeries, now: number, first: number, buckets: number): Promise<void> {
    const { provider, marketNo, outcomeIndex, timeframe } = series;
    const name = `market ${String(marketNo)}, outcome ${String(outcomeIndex)}, ${String(timeframe)} s`;
    const last = this.told.get(name);
    if (last !== undefined && now - last < TOLD_AGAIN_AFTER) return;
    if (this.told.size >= MOST_TOLD) this.told.clear();
    this.told.set(name, now);
    const detail = `rebuilt candle apart: ${provider}, ${name}: ${String(buckets)} buckets differ from ${isoTime(first)} on`;
    this.ports.onApart(provider, detail);
    try {
      await this.ports.alarms.add(PROVIDERS.indexOf(provider), { kind: 'candle_apart', at: now, detail });
    } catch (error) {
      this.ports.onFault('alarm', error);
    }
  }
}

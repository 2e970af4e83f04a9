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
  /** Called when an alarm cannot be written. The reply is right nevertheless. */
  readonly onFault: (what: string, error: unknown) => void;
  readonly onApart: (provider: Provider, detail: string) => void;
}

const AT_ONCE = 4;
const WAITING = 256;
/** Only 100 alarms are kept per provider, so one series must not fill them all. */
const ALARM_AGAIN_AFTER = 3_600_000_000;
const MOST_REMEMBERED = 1_000;

/**
 * Recomputes candles from the trades, a few at a time. A difference from the stored candles raises an alarm; operators repair it.
 */
export class CandleRebuilds {
  private readonly limit = new Turnstile(AT_ONCE, WAITING);
  /** When each series last raised an alarm. */
  private readonly alarmedAt = new Map<string, number>();

  constructor(private readonly ports: CandleRebuildPorts) {}

  async rebuild(series: CandleSeries, window: CandleWindow, now: number): Promise<readonly Bar[]> {
    const read = await this.limit.pass(() => this.ports.candles.recompute(series, window));
    if (read === undefined) throw refuse(503, 'Too many candles are being rebuilt');
    const [first] = read.apart;
    if (first !== undefined) await this.raiseAlarm(series, now, first, read.apart.length);
    return read.bars;
  }

  private async raiseAlarm(series: CandleSeries, now: number, first: number, buckets: number): Promise<void> {
    const { provider, marketNo, outcomeIndex, timeframe } = series;
    const name = `market ${String(marketNo)}, outcome ${String(outcomeIndex)}, ${String(timeframe)} s`;
    const last = this.alarmedAt.get(name);
    if (last !== undefined && now - last < ALARM_AGAIN_AFTER) return;
    if (this.alarmedAt.size >= MOST_REMEMBERED) this.alarmedAt.clear();
    this.alarmedAt.set(name, now);
    const detail = `rebuilt candle apart: ${provider}, ${name}: ${String(buckets)} buckets differ from ${isoTime(first)} on`;
    this.ports.onApart(provider, detail);
    try {
      await this.ports.alarms.add(PROVIDERS.indexOf(provider), { kind: 'candle_apart', at: now, detail });
    } catch (error) {
      this.ports.onFault('alarm', error);
    }
  }
}

import { MICROS_PER_SECOND } from '../../rules/times.js';
import type { PlannedCandles } from './candle-ask.js';

/** Candles as text, read after their version. */
export interface KeptText {
  readonly plan: PlannedCandles;
  readonly version: string;
  readonly candles: string;
}

/** In microseconds. The same as `max-age` of the reply. */
const MAX_AGE = 60 * MICROS_PER_SECOND;
const MOST_CHARS = 33_554_432;
/** No single reply may take more than an eighth of the cache. */
const LARGEST = MOST_CHARS / 8;

/** Caches texts of closed buckets and drops the oldest when full. The caller must check that the version still holds. */
export class KeptCandles {
  private readonly kept = new Map<string, KeptText>();
  private chars = 0;

  find(key: string, now: number): KeptText | undefined {
    const kept = this.kept.get(key);
    return kept !== undefined && now < kept.plan.now + MAX_AGE ? kept : undefined;
  }

  keep(key: string, text: KeptText): void {
    this.drop(key);
    if (text.candles.length > LARGEST) return;
    this.kept.set(key, text);
    this.chars += text.candles.length;
    for (const [oldest] of this.kept) {
      if (this.chars <= MOST_CHARS) return;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    this.chars -= this.kept.get(key)?.candles.length ?? 0;
    this.kept.delete(key);
  }
}

import { MICROS_PER_SECOND } from '../../rules/times.js';
import type { PlannedCandles } from './candle-ask.js';

/** Candles as text, read once its version was known. */
export interface KeptText {
  readonly plan: PlannedCandles;
  readonly version: string;
  readonly candles: string;
}

/** As long as callers may keep a reply, in microseconds. */
const LIFE = 60 * MICROS_PER_SECOND;
const MOST_CHARS = 33_554_432;
/** No one reply is all that is kept. */
const LARGEST = MOST_CHARS / 8;

/** Texts of closed buckets, the newest as far as there is room. Whether one still holds, its reader has to ask. */
export class KeptCandles {
  private readonly kept = new Map<string, KeptText>();
  private chars = 0;

  find(key: string, now: number): KeptText | undefined {
    const kept = this.kept.get(key);
    return kept !== undefined && now < kept.plan.now + LIFE ? kept : undefined;
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

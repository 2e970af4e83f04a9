import type { Bar, Timeframe } from '../../rules/candles.js';
import { wholeContracts } from '../../rules/candles.js';
import { cents } from '../../rules/scales.js';
import { isoTime } from '../../rules/times.js';

/** The fields that all candles of a series share. */
export interface SeriesLabels {
  /** As the caller sent it. */
  readonly contract_id: string;
  readonly timeframe: Timeframe;
  /** Undefined where the venue has one book for both outcomes; null where the outcome has no token. */
  readonly token_id: string | null | undefined;
}

/** Candles as JSON, separated by commas. Concatenated by hand for speed: a reply has up to 400,000 of them. */
export function candleTexts(
  { contract_id, timeframe, token_id }: SeriesLabels,
  bars: readonly Bar[],
): string {
  const before = `{"contract_id":${JSON.stringify(contract_id)},"bucket_start":"`;
  const between = `","timeframe_seconds":${String(timeframe)},"open":`;
  const after = token_id === undefined ? '}' : `,"token_id":${JSON.stringify(token_id)}}`;
  let text = '';
  for (const { bucket, open, high, low, close, volume } of bars) {
    const prices = `${String(cents(open))},"high":${String(cents(high))},"low":${String(cents(low))},"close":${String(cents(close))}`;
    const comma = text === '' ? '' : ',';
    text += `${comma}${before}${isoTime(bucket)}${between}${prices},"volume":${String(wholeContracts(volume))}${after}`;
  }
  return text;
}

import { LABELS_SHARD, PROVIDERS } from '../../rules/providers.js';
import type { MarketDataEvent } from '../../rules/events.js';
import { encodeEvent, UnstorableEvent } from '../encoded-event.js';
import { type LineRead, LONGEST_LINE, readEvent } from '../read-event.js';

/** A record is longer than its line by less than this. */
const RECORD_BYTES = 4_096;
const ESCAPED = '\\u';

/** Like `readEvent`, but also refuses events that no journal can store, while the line is still known. */
export function readLine(line: Buffer | undefined, receivedAt: number): LineRead {
  if (line === undefined) return { ok: false, reason: 'too_long' };
  const read = readEvent(line, receivedAt);
  if (!read.ok || read.event.type === 'BOOK') return read;
  const isLong = line.length > LONGEST_LINE - RECORD_BYTES;
  if (!isLong && !line.includes(ESCAPED)) return read;
  try {
    const { payload } = encodeEvent(read.event);
    return Buffer.byteLength(payload) > LONGEST_LINE ? { ok: false, reason: 'too_long' } : read;
  } catch (error) {
    if (!(error instanceof UnstorableEvent)) throw error;
    return { ok: false, reason: 'bad_value' };
  }
}

/** The journal that an event belongs to. */
export function shardOf(event: MarketDataEvent): number {
  return 'label' in event ? LABELS_SHARD : PROVIDERS.indexOf(event.provider);
}

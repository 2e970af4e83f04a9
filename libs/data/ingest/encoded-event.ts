import { createHash } from 'node:crypto';
import { contentOf, type JournaledMarketData } from '../rules/event-codec.js';

/** An event that no table can store. */
export class UnstorableEvent extends Error {
  override readonly name = 'UnstorableEvent';
}

/** The time of receipt comes first and is not part of the content, so the content can be found in a record without parsing it. */
export interface EncodedEvent {
  readonly payload: string;
  readonly digest: Buffer;
}

const MOST_NAME_BYTES = 1_024;
const MOST_LARGE = 2n ** 63n - 1n;
/** U+0000 and lone surrogates, as JSON escapes them, unless the backslash itself is escaped. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

export function encodeEvent(event: JournaledMarketData): EncodedEvent {
  const content = contentOf(event);
  if (content.includes('\\u') && UNSTORABLE.test(content))
    throw new UnstorableEvent('it contains characters that cannot be stored');
  if (Buffer.byteLength(event.source_id) > MOST_NAME_BYTES)
    throw new UnstorableEvent('source_id is too long');
  if (numbersOf(event).some((number) => number < 0n || number > MOST_LARGE)) {
    throw new UnstorableEvent('a number is too large');
  }
  const payload = `{"received_at":${String(event.received_at)},${content.slice(1)}`;
  return { payload, digest: digestOf(content) };
}

function numbersOf(event: JournaledMarketData): bigint[] {
  if (event.type !== 'TRADE') return [];
  return event.seq === undefined ? [event.size] : [event.size, event.seq];
}

/** The digest of a record that `encodeEvent` wrote. */
export function digestOfPayload(payload: string): Buffer {
  return digestOf(`{${payload.slice(payload.indexOf(',') + 1)}`);
}

const DIGEST_BYTES = 8;

function digestOf(content: string): Buffer {
  return createHash('sha256').update(content).digest().subarray(0, DIGEST_BYTES);
}

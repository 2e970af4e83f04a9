import { createHash } from 'node:crypto';
import { contentOf, type JournaledMarketData } from '../rules/event-codec.js';

/** An event that no table could hold. */
export class UnstorableEvent extends Error {
  override readonly name = 'UnstorableEvent';
}

/** Receipt comes first and is no part of the content, so that this is found in a record without reading it. */
export interface EncodedEvent {
  readonly payload: string;
  readonly digest: Buffer;
}

const MOST_NAME_BYTES = 1_024;
const MOST_LARGE = 2n ** 63n - 1n;
/** U+0000 and halves of characters as JSON has them, unless a backslash itself is what is escaped. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

export function encodeEvent(event: JournaledMarketData): EncodedEvent {
  const content = contentOf(event);
  if (content.includes('\\u') && UNSTORABLE.test(content))
    throw new UnstorableEvent('it holds what is no text');
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

/** Of a record that was made here. */
export function digestOfPayload(payload: string): Buffer {
  return digestOf(`{${payload.slice(payload.indexOf(',') + 1)}`);
}

const DIGEST_BYTES = 8;

function digestOf(content: string): Buffer {
  return createHash('sha256').update(content).digest().subarray(0, DIGEST_BYTES);
}

import { JournalRefused } from './journal-errors.js';

export const MAX_PAYLOAD_BYTES = 1_048_576;
/** The limit of one append, which is one send: a Kafka topic must allow messages of this size and a little more. */
export const MAX_BATCH_BYTES = 16_777_216;
export const MAX_BATCH_RECORDS = 10_000;

/** A group takes no further call beyond these. A single call may be larger. */
export const GROUP_BYTES = 4_194_304;
export const GROUP_RECORDS = 1_024;

/** Limits on the calls that wait while a group is in flight. */
export const MAX_QUEUED_BYTES = 67_108_864;
export const MAX_QUEUED_RECORDS = 100_000;

/** Checks the limits and returns the size of the batch in bytes. */
export function checkBatch(payloads: readonly string[]): number {
  if (payloads.length === 0) throw new JournalRefused('a batch holds at least one payload');
  if (payloads.length > MAX_BATCH_RECORDS) {
    throw new JournalRefused(`${payloads.length} payloads are more than a batch may hold`);
  }
  let total = 0;
  for (const [index, payload] of payloads.entries()) {
    const bytes = Buffer.byteLength(payload);
    if (bytes > MAX_PAYLOAD_BYTES) throw new JournalRefused(`payload ${index} is too long: ${bytes} bytes`);
    // Neither is JSON text, and neither would be read back unchanged.
    if (!payload.isWellFormed() || payload.includes('\0')) {
      throw new JournalRefused(`payload ${index} holds a lone surrogate or U+0000`);
    }
    total += bytes;
  }
  if (total > MAX_BATCH_BYTES) throw new JournalRefused(`a batch of ${total} bytes is too long`);
  return total;
}

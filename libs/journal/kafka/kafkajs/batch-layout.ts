/** Where the fields of a record batch of format 2 stand, counted from its first byte. */
export const BATCH = {
  length: 8,
  magic: 16,
  checksum: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  firstSequence: 53,
  count: 57,
  records: 61,
};
/** Its length counts from here. */
export const PREFIX = BATCH.length + 4;
export const FORMAT = 2;
/** The name of the header with a message's MAC. */
export const SEAL_HEADER = Buffer.from('seal');

import path from 'node:path';
import { open, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { DATA_FOLDER } from '#libs/platform/embedded-kafka/server-properties.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { BATCH, PREFIX } from './write-batch.js';

jest.setTimeout(60_000);

const SHARD = 0;
const APPENDS = 12;
const IN_EACH = 3;
/** The damaged append. Others come before and after it. */
const DAMAGED = 8;
/** The first record begins the epoch; `DAMAGED` appends are sound. */
const SOUND = 1 + DAMAGED * IN_EACH;

describeWithKafka('a batch whose length a disk has changed', {}, (kafka) => {
  let journals: KeptJournals;
  beforeEach(async () => {
    journals = await KeptJournals.begin(kafka(), [SHARD]);
    const writer = await journals.owner(SHARD);
    for (let append = 0; append < APPENDS; append += 1) {
      await writer.append(Array.from({ length: IN_EACH }, (_, at) => `"${append}.${at}"`));
    }
    await writer.close();
  });
  afterEach(() => journals.dispose());

  /** Changes a byte of the damaged batch's length in the broker's file. */
  const spoil = async (byte: number, bits: number): Promise<void> => {
    const folder = kafka().own!.brokers[0]!.place.folder;
    const topic = `${journals.topics.nameOf(SHARD)}-0`;
    const file = path.join(folder, DATA_FOLDER, topic, '00000000000000000000.log');
    const log = await readFile(file);
    let at = 0;
    // The epoch's own batch comes first.
    for (let passed = 0; passed <= DAMAGED; passed += 1) at += PREFIX + log.readInt32BE(at + BATCH.length);
    const place = at + BATCH.length + byte;
    const handle = await open(file, 'r+');
    await handle.write(Buffer.of(log.readUInt8(place) ^ bits), 0, 1, place);
    await handle.close();
  };

  it.each([
    ['a negative number', 0, 0x80],
    ['more than the log has', 1, 0x10],
  ])('to %s hides no record before it, read singly or together', async (_, byte, bits) => {
    await spoil(byte, bits);
    const { bareReader: reader } = await journals.store();
    expect(await reader.heads()).toEqual(new Map([[SHARD, SOUND + 1]]));
    expect(await reader.read(SHARD, 1, SOUND)).toHaveLength(SOUND);
    for (let sequence = 1; sequence <= SOUND; sequence += 1) {
      expect(await reader.entries(SHARD, [sequence])).toMatchObject([{ sequence }]);
    }
    await expect(reader.entries(SHARD, [SOUND + 1])).rejects.toMatchObject({
      name: 'JournalCorrupt',
      sequence: SOUND + 1,
    });
  });
});

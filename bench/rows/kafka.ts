import { encodeRecord } from '#libs/journal/kafka/record-format.js';
import { beforeFirst, linkEvent } from '#libs/journal/hash-chain.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { alternating } from '../alternating.js';
import { BenchKafka } from '../ground/bench-kafka.js';
import type { Ground } from '../ground/ground.js';
import { closedLoop } from '../load/closed-loop.js';
import { revisionPayloads } from '../load/journal-rows.js';
import {
  asFastAs,
  atLeast,
  forComparison,
  type RowCheck,
  type RowOutcome,
  type Row,
  type Settings,
} from '../row.js';

const SHARD = { journal: 0, tool: 1, read: 2 };
/** Events of one owner's concurrent commands, and the number of concurrent append calls. */
const BATCH = 100;
const CALLERS = 8;
/** The tool's default batch size. */
const TOOLS_OWN_BATCH = 16_384;
const TOOL_RECORDS = 400_000;
/** One record per request, one request at a time. */
const TOOL_SINGLES = 10_000;
const READ_RECORDS = 300_000;
const PAGE = 5_000;
const QUICK = 50;

/** Appends and reads of one owner, compared with Kafka's own producer and records of the same size. */
export const kafka: Row = {
  name: 'kafka',
  title: "Journal on Kafka, compared with Kafka's own producer tool, one broker and three",
  async run(_ground: Ground, settings: Settings): Promise<RowOutcome> {
    const one = await measured(1, settings);
    const three = await measured(3, settings);
    return {
      checks: [...one.checks, ...three.checks],
      details: { one: one.details, three: three.details },
    };
  },
};

async function measured(brokers: 1 | 3, settings: Settings): Promise<RowOutcome> {
  const cluster = await BenchKafka.start(brokers);
  try {
    const appended = await appends(cluster, brokers, settings);
    if (brokers === 3) return appended;
    const read = await reads(cluster, settings);
    return {
      checks: [...appended.checks, ...read.checks],
      details: { ...appended.details, ...read.details },
    };
  } finally {
    await cluster.stop();
  }
}

async function appends(cluster: BenchKafka, brokers: number, settings: Settings): Promise<RowOutcome> {
  const { seconds, quick } = settings;
  const payloads = revisionPayloads(BATCH);
  const recordBytes = sizeOf(payloads[0] ?? '');
  const share = quick ? QUICK : 1;
  const records = TOOL_RECORDS / share;
  const singles = { records: TOOL_SINGLES / share, recordBytes, batchBytes: 0 };
  const writer = await cluster.writer(SHARD.journal);
  const appending = async (callers: number, batch: readonly string[]): Promise<number> => {
    return batch.length * (await closedLoop(callers, seconds, () => append(writer, batch)));
  };
  // Warms up: the first calls run cold code.
  await appending(CALLERS, payloads);
  const { medians, runs } = await alternating(
    {
      tool: () => cluster.producerTool(SHARD.tool, { records, recordBytes, batchBytes: TOOLS_OWN_BATCH }),
      journal: () => appending(CALLERS, payloads),
      toolSameBatch: () =>
        cluster.producerTool(SHARD.tool, { records, recordBytes, batchBytes: BATCH * CALLERS * recordBytes }),
      oneCaller: () => appending(1, payloads),
      toolSingles: () => cluster.producerTool(SHARD.tool, singles),
      singles: () => appending(1, payloads.slice(0, 1)),
    },
    settings,
  );
  await writer.close();
  return { checks: appendChecks(brokers, medians), details: { record_bytes: recordBytes, appends: runs } };
}

/**
 * Compared with the tool's default settings, which must be reached. Comparisons with batches of our size and
 * with single records are for information.
 */
export function appendChecks(
  brokers: number,
  medians: Readonly<Record<'journal' | 'tool' | 'toolSameBatch' | 'singles' | 'toolSingles', number>>,
): RowCheck[] {
  const where = brokers === 1 ? 'one broker' : `${brokers} brokers`;
  const what = `appends, ${where}`;
  const defaultBatches = { name: 'producer tool, one request in flight', measured: medians.tool };
  const sameBatch = {
    name: `the same with batches of ${BATCH * CALLERS} records`,
    measured: medians.toolSameBatch,
  };
  const single = { name: 'producer tool, one record a request', measured: medians.toolSingles };
  return [
    asFastAs(what, 'records/s', medians.journal, defaultBatches, { minimum: 0.8, goal: 1 }),
    forComparison(what, 'records/s', medians.journal, sameBatch),
    forComparison(`single appends, ${where}`, 'records/s', medians.singles, single),
  ];
}

async function append(writer: JournalWriter, payloads: readonly string[]): Promise<void> {
  await writer.append(payloads);
}

/** Reads as a recovering owner does, checking the hash of every record. */
async function reads(cluster: BenchKafka, settings: Settings): Promise<RowOutcome> {
  const records = settings.quick ? READ_RECORDS / QUICK : READ_RECORDS;
  const writer = await cluster.writer(SHARD.read);
  const payloads = revisionPayloads(1_000);
  for (let written = 0; written < records; written += payloads.length) await writer.append(payloads);
  await writer.close();
  const { medians, runs } = await alternating({ reads: () => readingAll(cluster) }, settings);
  const checks: RowCheck[] = [
    atLeast('reads of a recovery', 'records/s', medians.reads, { minimum: 200_000, goal: 200_000 }),
  ];
  return { checks, details: { reads: runs } };
}

async function readingAll(cluster: BenchKafka): Promise<number> {
  const reader = cluster.reader();
  const begun = performance.now();
  let read = 0;
  for (;;) {
    const page = await reader.read(SHARD.read, read + 1, PAGE);
    if (page.length === 0) break;
    read += page.length;
  }
  const seconds = (performance.now() - begun) / 1_000;
  await reader.close();
  return read / seconds;
}

/** The size of an event in its topic, somewhere in a long journal. */
function sizeOf(payload: string): number {
  const entry = linkEvent(SHARD.journal, { ...beforeFirst('auction'), epoch: 1, sequence: 100_000 }, payload);
  return encodeRecord(entry, { offset: 100_000, sequence: 100_000 }).length;
}

import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { JournalEntry } from '../journal.js';
import {
  JournalAmbiguous,
  JournalFailure,
  JournalFenced,
  JournalUnavailable,
  messageOf,
} from '../journal-errors.js';
import type { JournalFamily } from '../journal-id.js';
import type { Session } from './session.js';

const RETRY_MILLIS = 50;

const HOLD_SHARD = 'select epoch from journal.shards where family = $1 and shard = $2 for update';
const FIND_RECORDS = `
  select encode(hash, 'hex') as hash from journal.records
  where family = $1 and shard = $2 and sequence >= $3 order by sequence limit $4`;
/** Ends our own epoch, so that a write in flight is refused. */
const END_EPOCH = 'update journal.shards set epoch = epoch + 1 where family = $1 and shard = $2';

export interface SettlementPorts {
  readonly family: JournalFamily;
  readonly connect: (withinMillis: number) => Promise<Session>;
  readonly clock: Clock;
  readonly withinMillis: number;
}

/**
 * Finds out the outcome of a write whose reply was lost. Resolves with a new connection if the records are durable and the shard is
 * still ours. Rejects with what is known otherwise, or as ambiguous when the time is up.
 */
export async function settle(
  ports: SettlementPorts,
  records: readonly JournalEntry[],
  lost: Error,
): Promise<Session> {
  const { clock, withinMillis } = ports;
  const deadline = clock.monotonicNanos() + BigInt(withinMillis) * NANOS_PER_MILLI;
  const remaining = (): number => Number((deadline - clock.monotonicNanos()) / NANOS_PER_MILLI);
  let obstacle = lost;
  for (let left = withinMillis; left > 0; left = remaining()) {
    let session: Session | undefined;
    try {
      session = await ports.connect(left);
      await checkOutcome({ session, family: ports.family, remaining }, records, lost);
      return session;
    } catch (error) {
      session?.destroy();
      if (error instanceof JournalFailure) throw error;
      obstacle = error instanceof Error ? error : new Error(String(error));
    }
    await pause(clock, RETRY_MILLIS);
  }
  throw new JournalAmbiguous(
    records[0]?.shard ?? 0,
    `the answer to an append was lost (${lost.message}) and the database could not be asked (${obstacle.message})`,
    { cause: lost },
  );
}

interface SettlementCheck extends Pick<SettlementPorts, 'family'> {
  readonly session: Session;
  readonly remaining: () => number;
}

/**
 * The row lock waits for a write that the server still executes, and commits after it: what is seen under the lock is as durable as
 * our own commit.
 */
async function checkOutcome(
  { session, family, remaining }: SettlementCheck,
  records: readonly JournalEntry[],
  lost: Error,
): Promise<void> {
  const [first] = records;
  if (first === undefined) throw new RangeError('nothing to settle');
  const { shard, epoch, sequence } = first;
  const journal = [family, shard];
  await session.query({ text: 'begin' }, remaining());
  const held = await session.query<{ epoch: number }>({ text: HOLD_SHARD, values: journal }, remaining());
  const found = await session.query<{ hash: string }>(
    { text: FIND_RECORDS, values: [...journal, sequence, records.length] },
    remaining(),
  );
  const isOurs = held.rows[0]?.epoch === epoch;
  const isWritten = records.every((record, index) => found.rows[index]?.hash === record.hash);
  if (isOurs && found.rows.length === 0)
    await session.query({ text: END_EPOCH, values: journal }, remaining());
  await session.query({ text: 'commit' }, remaining());

  if (isOurs && isWritten) return;
  throw verdict(shard, isOurs, isWritten, lost);
}

function verdict(shard: number, isOurs: boolean, isWritten: boolean, lost: Error): JournalFailure {
  const cause = { cause: lost };
  if (isWritten) {
    return new JournalAmbiguous(
      shard,
      'the append was written, but the shard has another writer since',
      cause,
    );
  }
  if (isOurs) return new JournalUnavailable(shard, `the append was lost: ${messageOf(lost)}`, cause);
  return new JournalFenced(shard, 'another writer has taken the shard', cause);
}

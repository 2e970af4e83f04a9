import type { Clock } from '#libs/platform/time/clock.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { JournalBackend, WrongBackend } from '../backend/journal-backend.js';
import { JournalLock } from '../backend/journal-lock.js';
import type { JournalReader } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { JournalFamily } from '../journal-id.js';
import type { JournalStore } from '../stores/journal-store.js';
import { compareShard } from './compare-shard.js';
import { copyShard } from './copy-shard.js';
import { checkIsCopy } from './found-copy.js';

export interface MoveProgress {
  readonly shard: number;
  readonly doing: 'copying' | 'comparing';
  readonly done: number;
  readonly of: number;
}

export interface Move {
  readonly family: JournalFamily;
  readonly from: JournalStore;
  readonly to: JournalStore;
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly shards: readonly number[];
  readonly opener: string;
  /** Refuses journals that are known to be incomplete. Runs before anything is written, while no process writes. */
  readonly check?: (from: JournalReader) => Promise<void>;
  readonly tell?: (progress: MoveProgress) => void;
}

export interface MovedShard {
  readonly shard: number;
  readonly records: number;
  /** How many of them the new store had when this move began. */
  readonly found: number;
  readonly hash: string;
}

/**
 * Moves the journals of a stopped cluster to another store, unchanged. The old store keeps them, plus one epoch record in each
 * shard, after which a suspended owner cannot write. Until all is copied and compared, the journals stay in the old store, so an
 * interrupted move can be repeated and resumes. See docs/decisions/10.
 */
export async function moveJournals(move: Move): Promise<MovedShard[]> {
  const { family, from, to, databaseUrl, clock } = move;
  const lock = new JournalLock(databaseUrl, clock);
  await lock.takeAlone();
  const receiver = to.receiver();
  try {
    await lock.whileHeld((client) => checkBackend(new JournalBackend(client, family), move));
    await from.refuseLost();
    await to.checkFit();
    await move.check?.(from.bareReader);
    for (const shard of move.shards) await checkFound(move, shard);
    const moved: MovedShard[] = [];
    for (const shard of move.shards) {
      const { sequence: found } = await receiver.head(shard);
      await endEpoch(move, shard);
      const head = (await from.bareReader.heads()).get(shard) ?? 0;
      const tell = (doing: MoveProgress['doing']) => (done: number) => {
        move.tell?.({ shard, doing, done, of: head });
      };
      const records = await copyShard(shard, from.bareReader, receiver, tell('copying'));
      await checkAlike(move, { shard, found, records }, tell('comparing'));
      const { sequence, hash } = await receiver.head(shard);
      await to.remember(shard, { sequence, hash });
      moved.push({ shard, found, records, hash });
    }
    const newBackend = await to.backend();
    await lock.whileHeld((client) =>
      new JournalBackend(client, family).move(newBackend, () => checkUnchanged(from, moved)),
    );
    return moved;
  } finally {
    await receiver.close();
    await lock.letGo();
  }
}

/** Checks the records that the new store has already, before anything is written. */
async function checkFound({ from, to, tell }: Move, shard: number): Promise<void> {
  const of = (await to.bareReader.heads([shard])).get(shard) ?? 0;
  await checkIsCopy(shard, from.bareReader, to.bareReader, (done) => {
    if (of > 0) tell?.({ shard, doing: 'comparing', done, of });
  });
}

async function checkBackend(backend: JournalBackend, { from, to }: Move): Promise<void> {
  try {
    await backend.check(await from.backend());
  } catch (error) {
    if (!(error instanceof WrongBackend)) throw error;
    // An earlier move may have finished without reporting it.
    const areThere = await backend.check(await to.backend()).then(
      () => true,
      () => false,
    );
    if (areThere) throw new WrongBackend(`the journals are in ${to.kind} already: there is nothing to move`);
    throw new WrongBackend(`the journals are not there: ${error.message}`);
  }
}

async function endEpoch({ from, opener }: Move, shard: number): Promise<void> {
  const writer = await from.journalOfMover(opener).open(shard);
  await writer.close();
}

/** A suspended owner may have taken a shard again, after the epoch that was to end its own. */
async function checkUnchanged(from: JournalStore, moved: readonly MovedShard[]): Promise<void> {
  const heads = await from.bareReader.heads();
  for (const { shard, records } of moved) if (heads.get(shard) !== records) throw changed(shard);
}

/** Compares the new records only. The earlier ones were compared before, and each hash covers those before it. */
async function checkAlike(
  { from, to }: Move,
  { shard, found, records }: Omit<MovedShard, 'hash'>,
  tell: (done: number) => void,
): Promise<void> {
  const compared = await compareShard(shard, from.bareReader, to.bareReader, tell, found);
  const { alike, differs, surplus } = compared;
  if (differs !== undefined) {
    throw new JournalCorrupt(shard, differs.sequence, `the copy has another ${differs.in} there`);
  }
  if (surplus.one > 0 || surplus.other > 0 || alike !== records) {
    throw changed(shard);
  }
}

function changed(shard: number): StartFault {
  return new StartFault(`shard ${shard} has changed while it was moved: another process writes it`);
}

import type { AuctionState } from '../../rules/state.js';
import { readMoment, SNAPSHOT_FORMAT } from '../../shard/recovery/shard-snapshot.js';
import type { JournalReader } from '#libs/journal/journal.js';
import {
  recordBehind,
  sealedContent,
  type Snapshot,
  type SnapshotStore,
} from '#libs/journal/sealed-snapshots.js';
import type { StartingPoint } from '../../stream/feed/feed.js';

const FROM_THE_FIRST: StartingPoint = { position: 0, states: [] };
/** Journals up to this many times the history are read from their first record, not from a snapshot. */
const SHORT = 4;

/**
 * Where to begin reading: far enough back that the history of recent events is full, so that a gateway that has
 * just started can resume connections of other gateways.
 */
export async function startingPoint(
  shard: number,
  reader: JournalReader,
  snapshots: SnapshotStore,
  history: number,
): Promise<StartingPoint> {
  const head = (await reader.heads([shard])).get(shard) ?? 0;
  if (head <= SHORT * history) return FROM_THE_FIRST;
  let best: Snapshot | undefined;
  let candidate = await snapshots.latest(shard);
  while (candidate !== undefined) {
    const isReadable = candidate.formatVersion === SNAPSHOT_FORMAT;
    if (isReadable && (await recordBehind(reader, shard, candidate)) !== undefined) {
      best = candidate;
      if (candidate.sequence <= head - history) break;
    }
    candidate = await snapshots.latest(shard, candidate.sequence);
  }
  return best === undefined ? FROM_THE_FIRST : { position: best.sequence, states: statesIn(best) };
}

/**
 * A gateway has no key to check a snapshot's seal. A wrong snapshot can only mislead its streams; no decision
 * depends on it.
 */
function* statesIn(snapshot: Snapshot): Generator<AuctionState> {
  for (const entry of readMoment(sealedContent(snapshot)).entries)
    if (entry.durable !== undefined) yield entry.durable;
}

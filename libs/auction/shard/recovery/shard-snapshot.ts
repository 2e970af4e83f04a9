import type { Instant } from '#libs/base/instant.js';
import type { AuctionState } from '../../rules/state.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import { IdempotencyIndex } from '#libs/shard/idempotency-index.js';
import type { NotedConnection } from '../connections/connection-book.js';
import type { PlacedAnswer } from '../ports.js';

/** Raised whenever the shape of this snapshot or of an auction's state changes. Older snapshots are then ignored. */
export const SNAPSHOT_FORMAT = 4;

/** One auction, as a line of the snapshot. */
interface EntryLine {
  readonly state: AuctionState;
  readonly positions: readonly number[];
  readonly marks: readonly (readonly [number, number])[];
  readonly decided_at?: number;
  readonly completed_at?: number;
  readonly award_ends?: readonly (readonly [string, number])[];
}

interface HeadLine {
  readonly last_event_at: Instant;
  readonly answers: readonly (readonly [string, PlacedAnswer])[];
  readonly connections: readonly (readonly [string, NotedConnection])[];
}

/** The shard's memory apart from its auctions. */
export interface BesideAuctions {
  readonly lastEventAt: Instant;
  readonly answers: ReadonlyMap<string, PlacedAnswer>;
  readonly connections: ReadonlyMap<string, NotedConnection>;
}

/** A shard's memory as of one record. It is cheap to capture, because states are immutable, and is encoded later. */
export interface ShardMoment {
  readonly sequence: number;
  readonly head: HeadLine;
  readonly entries: readonly (readonly [AuctionEntry, AuctionState])[];
}

const SLICE = 100;

export function momentOf(
  sequence: number,
  entries: Iterable<AuctionEntry>,
  { lastEventAt, answers, connections }: BesideAuctions,
): ShardMoment {
  const captured: [AuctionEntry, AuctionState][] = [];
  for (const entry of entries) if (entry.durable !== undefined) captured.push([entry, entry.durable]);
  return {
    sequence,
    head: { last_event_at: lastEventAt, answers: [...answers], connections: [...connections] },
    entries: captured,
  };
}

/** Encodes in slices and yields to the event loop between them, so that commands do not wait. */
export async function writeMoment({ sequence, head, entries }: ShardMoment): Promise<Buffer> {
  const pieces: Buffer[] = [Buffer.from(`${JSON.stringify(head)}\n`)];
  for (let from = 0; from < entries.length; from += SLICE) {
    const lines = entries.slice(from, from + SLICE).map(([entry, state]) => {
      return `${JSON.stringify(lineOf(entry, state, sequence))}\n`;
    });
    pieces.push(Buffer.from(lines.join('')));
    await nextTurn();
  }
  return Buffer.concat(pieces);
}

/** Positions and commands are only ever added, so those after the captured record are left out by their position. */
function lineOf(entry: AuctionEntry, state: AuctionState, sequence: number): EntryLine {
  const until = (position: number | undefined): number | undefined =>
    position !== undefined && position <= sequence ? position : undefined;
  const decided = until(entry.decidedAt);
  const completed = until(entry.completedAt);
  const ends = [...(entry.awardEnds ?? [])].filter(([, position]) => position <= sequence);
  return {
    state,
    positions: entry.positions.filter((position) => position <= sequence),
    marks: entry.commands.upTo(sequence),
    ...(decided === undefined ? {} : { decided_at: decided }),
    ...(completed === undefined ? {} : { completed_at: completed }),
    ...(ends.length === 0 ? {} : { award_ends: ends }),
  };
}

export interface RestoredMoment {
  readonly lastEventAt: Instant;
  readonly answers: readonly (readonly [string, PlacedAnswer])[];
  readonly connections: readonly (readonly [string, NotedConnection])[];
  readonly entries: readonly AuctionEntry[];
}

export function readMoment(content: Buffer): RestoredMoment {
  const [headLine = '', ...lines] = content.toString('utf8').split('\n');
  const head = JSON.parse(headLine) as HeadLine;
  const entries = lines.filter((line) => line !== '').map((line) => entryOf(JSON.parse(line) as EntryLine));
  const { last_event_at: lastEventAt, answers, connections } = head;
  return { lastEventAt, answers, connections, entries };
}

function entryOf(line: EntryLine): AuctionEntry {
  return {
    id: line.state.terms.auction_id,
    head: line.state,
    durable: line.state,
    positions: [...line.positions],
    commands: new IdempotencyIndex(line.marks),
    dueAt: undefined,
    mayDecide: false,
    decidedAt: line.decided_at,
    awardEnds: line.award_ends === undefined ? undefined : new Map(line.award_ends),
    completedAt: line.completed_at,
  };
}

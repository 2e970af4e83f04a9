import { expect, it } from '@jest/globals';
import { OracleArchive } from '../../simulator/oracle/archive.js';
import type { AuctionFile, StoryLine } from '../../simulator/oracle/auction-file.js';
import type { SubscriptionHistory } from '#libs/client/stream-memory.js';
import type { StreamEvent } from '#libs/client/stream-wire.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { Findings } from './findings.js';
import { checkStream } from './streams.js';

const STORY: readonly StoryLine[] = ['AUCTION_OPENED', 'AUCTION_CLOSED', 'AUCTION_COMPLETED'].map((kind) => ({
  kind,
  at: '2026-11-20T12:00:00.000000000Z',
  sequence: 1,
  actor: 'SYSTEM',
  data: { kind },
}));

function archiveOf(...ids: string[]): OracleArchive {
  const archive = new OracleArchive();
  for (const id of ids) {
    const stories = new Map([['me', [...STORY]]]);
    const file = { id, stories } as Pick<AuctionFile, 'id' | 'stories'> as AuctionFile;
    archive.files.set(id, file);
  }
  return archive;
}

function event(seq: number, id: string, place: number, kind = STORY[place - 1]?.kind ?? ''): StreamEvent {
  const at = STORY[0]?.at ?? '';
  return {
    type: 'event',
    subscription_id: 's',
    seq,
    auction_id: id,
    timeline_seq: place,
    kind,
    occurred_at: at,
    data: { kind },
  };
}

function wrongs(
  events: StreamEvent[],
  snapshots: SubscriptionHistory['snapshots'] = [{ behind: 0, auctions: [] }],
  resyncs: string[] = [],
): string[] {
  const findings = new Findings();
  const ids = ['a', 'b'];
  checkStream({ snapshots, events, resyncs, versions: new Map() }, archiveOf(...ids), 'me', findings);
  return findings.violations;
}

const WHOLE = [1, 2, 3].flatMap((place) => [event(2 * place - 1, 'a', place), event(2 * place, 'b', place)]);

it('accepts a stream that shows every timeline to its end', () => {
  expect(wrongs(WHOLE)).toEqual([]);
});

it('reports a resync of a client that stated its position truly', () => {
  expect(wrongs(WHOLE, undefined, ['SLOW_READER'])).toEqual([]);
  expect(wrongs(WHOLE, undefined, ['HISTORY_GONE'])).toEqual([
    'streams can be resumed: me is told HISTORY_GONE',
  ]);
});

it('reports missing lines in the middle and at the end', () => {
  expect(wrongs(WHOLE.filter(({ seq }) => seq !== 3))).toEqual([
    'streams tell what happened: AUCTION_COMPLETED is 3 of a, and 1 are known',
  ]);
  expect(wrongs(WHOLE.slice(0, 5))).toEqual(['streams are complete: me has received 2 of 3 lines of b']);
});

it('reports a line of the wrong kind', () => {
  expect(wrongs([...WHOLE.slice(0, 5), event(6, 'b', 3, 'AUCTION_VOIDED')])).toEqual([
    'streams tell what happened: 3 of b is AUCTION_VOIDED, not AUCTION_COMPLETED',
  ]);
});

it('reports wrong content', () => {
  const [first, ...rest] = WHOLE;
  if (first === undefined) throw new Error('there is no first event');
  expect(wrongs([{ ...first, data: { ...first.data, limit_price_atoms: 1 } }, ...rest])).toEqual([
    'streams tell what happened: 1 of a, AUCTION_OPENED: .limit_price_atoms is 1 instead of absent',
  ]);
});

it('takes an auction for over if a later snapshot leaves it out, but not if it was never shown', () => {
  const twoSnapshots = [
    { behind: 0, auctions: [] },
    { behind: 1, auctions: [] as AuctionJson[] },
  ];
  expect(wrongs([event(1, 'a', 1)], twoSnapshots)).toEqual([
    'streams are complete: me has received 0 of 3 lines of b',
  ]);
});

import type { OracleArchive } from '../../simulator/oracle/archive.js';
import type { StoryLine } from '../../simulator/oracle/auction-file.js';
import { differenceOf } from '../../simulator/oracle/told/shown.js';
import { must } from '../../simulator/oracle/violation.js';
import type { SubscriptionHistory } from '#libs/client/stream-memory.js';
import type { StreamEvent } from '#libs/client/stream-wire.js';
import type { AuctionJson } from '#libs/client/wire.js';
import type { Findings } from './findings.js';

const TRUE = 'streams tell what happened';
const COMPLETE = 'streams are complete';
const TAKEN_UP = 'streams can be resumed';

/** Whether a subscription was sent the end of every timeline of its account. */
export function hasHeardAll(
  { versions }: SubscriptionHistory,
  archive: OracleArchive,
  account: string,
): boolean {
  return [...storiesOf(archive, account)].every(([id, { length }]) => (versions.get(id) ?? 0) >= length);
}

/**
 * Checks one subscription, over all its streams, from before the first auction: every auction's timeline, line
 * by line, to its end. Only auctions that a later snapshot leaves out may be missing, and they must be over.
 */
export function checkStream(
  told: SubscriptionHistory,
  archive: OracleArchive,
  account: string,
  findings: Findings,
): void {
  const stories = storiesOf(archive, account);
  // All clients here state their position truly.
  for (const reason of told.resyncs)
    findings.look('streams that began again', () =>
      must(reason !== 'HISTORY_GONE', TAKEN_UP, () => `${account} is told ${reason}`),
    );
  const known = new Map<string, number>();
  const waiting = [...told.snapshots];
  const show = (upTo: number): void => {
    while (waiting[0] !== undefined && waiting[0].behind <= upTo) {
      const shown = waiting.shift()?.auctions ?? [];
      const isAnew = told.snapshots.length > waiting.length + 1;
      if (isAnew) settleLeftOut(known, new Set(shown.map((view) => view.auction_id)), stories);
      for (const view of shown) {
        findings.look('views on streams', () => checkView(view, stories));
        known.set(view.auction_id, view.view_version);
      }
    }
  };
  for (const event of told.events) {
    show(event.seq - 1);
    findings.look('stream events', () => checkEvent(event, known, stories));
    known.set(event.auction_id, event.timeline_seq);
  }
  show(Infinity);
  for (const [id, { length }] of stories) {
    findings.look('stories on streams', () => {
      const heard = known.get(id) ?? 0;
      must(heard === length, COMPLETE, () => `${account} has received ${heard} of ${length} lines of ${id}`);
    });
  }
}

function storiesOf(archive: OracleArchive, account: string): Map<string, readonly StoryLine[]> {
  const all = [...archive.files.values()].map(({ id, stories }) => [id, stories.get(account)] as const);
  return new Map(all.flatMap(([id, story]) => (story === undefined ? [] : [[id, story]])));
}

function checkEvent(
  event: StreamEvent,
  known: ReadonlyMap<string, number>,
  stories: ReadonlyMap<string, readonly StoryLine[]>,
): void {
  const { auction_id: id, timeline_seq: place, kind, occurred_at: at } = event;
  const before = known.get(id) ?? 0;
  must(place === before + 1, TRUE, () => `${kind} is ${place} of ${id}, and ${before} are known`);
  const line = stories.get(id)?.[place - 1];
  must(
    line?.kind === kind && line.at === at,
    TRUE,
    () => `${place} of ${id} is ${kind}, not ${line?.kind ?? 'told'}`,
  );
  const difference = differenceOf(line.data, event.data);
  must(difference === undefined, TRUE, () => `${place} of ${id}, ${kind}: ${difference ?? ''}`);
}

function checkView(view: AuctionJson, stories: ReadonlyMap<string, readonly StoryLine[]>): void {
  const { auction_id: id, view_version: version } = view;
  const difference = differenceOf(stories.get(id)?.[version - 1]?.sight?.view, view);
  must(difference === undefined, TRUE, () => `${id} as it is shown at ${version}: ${difference ?? ''}`);
}

/** A later snapshot leaves out auctions that ended meanwhile; this is how its reader learns it. */
function settleLeftOut(
  known: Map<string, number>,
  shown: ReadonlySet<string>,
  stories: ReadonlyMap<string, readonly StoryLine[]>,
): void {
  for (const [id, story] of stories) {
    const isOver = story.at(-1)?.kind === 'AUCTION_COMPLETED';
    if (known.has(id) && !shown.has(id) && isOver) known.set(id, story.length);
  }
}

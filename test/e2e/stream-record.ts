import type { StreamClient } from '#libs/client/stream-client.js';
import type { SubscriptionHistory } from '#libs/client/stream-memory.js';
import type { StreamEvent } from '#libs/client/stream-wire.js';
import type { AuctionJson, TimelineEntryJson } from '#libs/client/wire.js';
import type { Trader } from './trading-floor.js';

export type Timelines = ReadonlyMap<string, readonly TimelineEntryJson[]>;

/** The present timelines of these auctions, as the trader sees them. */
export async function timelinesOf(trader: Trader, auctionIds: Iterable<string>): Promise<Timelines> {
  const timelines = [...auctionIds].map(async (id) => [id, await trader.timeline(id)] as const);
  return new Map(await Promise.all(timelines));
}

/** Resolves when the subscription has received the last entry of every timeline, in an event or by a later snapshot. */
export async function untilTold(
  client: StreamClient,
  subscriptionId: string,
  timelines: Timelines,
  withinMs?: number,
): Promise<void> {
  const holds = (): boolean => isToldOf(client.memory.of(subscriptionId), timelines);
  await client.untilIt(holds, `the end of ${timelines.size} timelines`, withinMs);
}

/** Whether the subscription has received all of these timelines. */
export function isToldOf(told: SubscriptionHistory, timelines: Timelines): boolean {
  return [...timelines].every(([id, { length }]) => (told.versions.get(id) ?? 0) >= length);
}

/**
 * Differences between a subscription and the events endpoint: each auction's entries must come one by one and
 * equal its timeline, from the snapshot's view to the end.
 */
export function faultsIn(told: SubscriptionHistory, timelines: Timelines): string[] {
  const { faults, versions } = followed(told, timelines);
  const late = [...timelines].flatMap(([id, { length }]) => {
    const version = versions.get(id) ?? 0;
    return version === length ? [] : [`${id} ends with entry ${version} of ${length}`];
  });
  return [...faults, ...late];
}

interface Followed {
  readonly versions: Map<string, number>;
  readonly faults: string[];
}

function followed({ snapshots, events }: SubscriptionHistory, timelines: Timelines): Followed {
  const versions = new Map<string, number>();
  const faults: string[] = [];
  const waiting = [...snapshots];
  const show = (upTo: number): void => {
    while (waiting[0] !== undefined && waiting[0].behind <= upTo) {
      const { auctions } = waiting.shift()!;
      const isAnew = versions.size > 0;
      for (const view of auctions) versions.set(view.auction_id, view.view_version);
      if (isAnew) settleTheEnded(versions, auctions, timelines);
    }
  };
  for (const event of events) {
    show(event.seq - 1);
    const version = versions.get(event.auction_id) ?? 0;
    if (event.timeline_seq !== version + 1)
      faults.push(`${event.auction_id}: entry ${event.timeline_seq} after ${version}`);
    const entry = timelines.get(event.auction_id)?.[event.timeline_seq - 1];
    if (entry !== undefined && asText(event) !== asText(entry))
      faults.push(`${event.auction_id}: ${asText(event)} is in truth ${asText(entry)}`);
    versions.set(event.auction_id, event.timeline_seq);
  }
  show(Infinity);
  return { versions, faults };
}

/** A later snapshot leaves out auctions that ended meanwhile; this is how its reader learns it. */
function settleTheEnded(
  versions: Map<string, number>,
  shown: readonly AuctionJson[],
  timelines: Timelines,
): void {
  for (const [id, timeline] of timelines) {
    const isShown = shown.some(({ auction_id: auctionId }) => auctionId === id);
    if (!isShown && versions.has(id) && timeline.at(-1)?.kind === 'AUCTION_COMPLETED')
      versions.set(id, timeline.length);
  }
}

function asText({ kind, occurred_at: at, data }: Pick<StreamEvent, 'kind' | 'occurred_at' | 'data'>): string {
  return JSON.stringify([kind, at, data]);
}

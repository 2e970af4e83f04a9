import type { ServerFrame, SnapshotFrame, StreamEvent } from './stream-wire.js';

/** What one subscription has been told, over all the sockets that carried it. */
export interface SubscriptionHistory {
  /** Complete snapshots, their parts joined, each with the `seq` behind which it stands. */
  readonly snapshots: { readonly behind: number; readonly auctions: SnapshotFrame['auctions'] }[];
  readonly events: StreamEvent[];
  /** Why it had to begin anew, each time. */
  readonly resyncs: string[];
  /** By auction, the last entry of its timeline that is known here; of one that a later snapshot left out, that it is over. */
  readonly versions: ReadonlyMap<string, number>;
}

interface Ledger extends SubscriptionHistory {
  readonly versions: Map<string, number>;
  last: number;
  parts: SnapshotFrame['auctions'];
}

/**
 * What a client must remember so that it can go on at another gateway, and what it checks with every frame: `seq` has neither
 * hole nor repeat, and nothing comes before the snapshot.
 */
export class StreamMemory {
  /** The latest one, whatever it came with. */
  token: string | undefined;
  /** What the service did that it must not do. */
  readonly faults: string[] = [];
  private readonly ledgers = new Map<string, Ledger>();

  /** The last `seq` of each subscription, as `hello` wants it. */
  get seen(): Record<string, number> {
    return Object.fromEntries([...this.ledgers].map(([id, { last }]) => [id, last]));
  }

  of(subscriptionId: string): SubscriptionHistory {
    return this.ledger(subscriptionId);
  }

  forget(subscriptionId: string): void {
    this.ledgers.delete(subscriptionId);
  }

  note(frame: ServerFrame): void {
    if ('resume_token' in frame) this.token = frame.resume_token;
    if (frame.type === 'event') this.event(frame);
    else if (frame.type === 'snapshot') this.snapshot(frame);
    else if (frame.type === 'resync') this.ledger(frame.subscription_id).resyncs.push(frame.reason);
  }

  private event(event: StreamEvent): void {
    const ledger = this.ledger(event.subscription_id);
    if (event.seq !== ledger.last + 1)
      this.faults.push(`${event.subscription_id}: ${event.seq} behind ${ledger.last}`);
    if (ledger.snapshots.length === 0)
      this.faults.push(`${event.subscription_id}: ${event.kind} before its snapshot`);
    ledger.last = event.seq;
    ledger.versions.set(event.auction_id, event.timeline_seq);
    ledger.events.push(event);
  }

  private snapshot({ subscription_id: id, auctions, more }: SnapshotFrame): void {
    const ledger = this.ledger(id);
    ledger.parts = [...ledger.parts, ...auctions];
    if (more) return;
    for (const known of ledger.versions.keys()) ledger.versions.set(known, Infinity);
    for (const view of ledger.parts) ledger.versions.set(view.auction_id, view.view_version);
    ledger.snapshots.push({ behind: ledger.last, auctions: ledger.parts });
    ledger.parts = [];
  }

  private ledger(subscriptionId: string): Ledger {
    const known = this.ledgers.get(subscriptionId);
    if (known !== undefined) return known;
    const told = { snapshots: [], events: [], resyncs: [], versions: new Map<string, number>() };
    const ledger: Ledger = { ...told, last: 0, parts: [] };
    this.ledgers.set(subscriptionId, ledger);
    return ledger;
  }
}

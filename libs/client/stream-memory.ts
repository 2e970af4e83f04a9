import type { ServerFrame, SnapshotFrame, StreamEvent } from './stream-wire.js';

/** A complete snapshot, its parts joined. */
interface ReceivedSnapshot {
  /** The last `seq` before the snapshot. */
  readonly behind: number;
  readonly auctions: SnapshotFrame['auctions'];
}

/** Everything that one subscription has received, over all sockets that carried it. */
export interface SubscriptionHistory {
  readonly snapshots: ReceivedSnapshot[];
  readonly events: StreamEvent[];
  /** The reason of each resync. */
  readonly resyncs: string[];
  /** By auction, the last known `timeline_seq`. Infinity for an auction that a later snapshot lacks, because it is over. */
  readonly versions: ReadonlyMap<string, number>;
}

interface SubscriptionState extends SubscriptionHistory {
  readonly versions: Map<string, number>;
  last: number;
  parts: SnapshotFrame['auctions'];
}

/**
 * What a client must remember to resume at another gateway. Checks with every frame that `seq` has no gap and no repeat, and
 * that no event precedes the snapshot.
 */
export class StreamMemory {
  /** The latest resume token. */
  token: string | undefined;
  /** Violations of the protocol by the service. */
  readonly faults: string[] = [];
  private readonly states = new Map<string, SubscriptionState>();

  /** The last `seq` of each subscription, in the form that `hello` needs. */
  get seen(): Record<string, number> {
    return Object.fromEntries([...this.states].map(([id, { last }]) => [id, last]));
  }

  of(subscriptionId: string): SubscriptionHistory {
    return this.state(subscriptionId);
  }

  forget(subscriptionId: string): void {
    this.states.delete(subscriptionId);
  }

  note(frame: ServerFrame): void {
    if ('resume_token' in frame) this.token = frame.resume_token;
    if (frame.type === 'event') this.event(frame);
    else if (frame.type === 'snapshot') this.snapshot(frame);
    else if (frame.type === 'resync') this.state(frame.subscription_id).resyncs.push(frame.reason);
  }

  private event(event: StreamEvent): void {
    const state = this.state(event.subscription_id);
    if (event.seq !== state.last + 1)
      this.faults.push(`${event.subscription_id}: ${event.seq} after ${state.last}`);
    if (state.snapshots.length === 0)
      this.faults.push(`${event.subscription_id}: ${event.kind} before its snapshot`);
    state.last = event.seq;
    state.versions.set(event.auction_id, event.timeline_seq);
    state.events.push(event);
  }

  private snapshot({ subscription_id: id, auctions, more }: SnapshotFrame): void {
    const state = this.state(id);
    state.parts = [...state.parts, ...auctions];
    if (more) return;
    for (const known of state.versions.keys()) state.versions.set(known, Infinity);
    for (const view of state.parts) state.versions.set(view.auction_id, view.view_version);
    state.snapshots.push({ behind: state.last, auctions: state.parts });
    state.parts = [];
  }

  private state(subscriptionId: string): SubscriptionState {
    const known = this.states.get(subscriptionId);
    if (known !== undefined) return known;
    const history = { snapshots: [], events: [], resyncs: [], versions: new Map<string, number>() };
    const state: SubscriptionState = { ...history, last: 0, parts: [] };
    this.states.set(subscriptionId, state);
    return state;
  }
}

import type { AuctionFile, StoryLine } from '../oracle/auction-file.js';
import type { Oracle } from '../oracle/oracle.js';
import { differenceOf, type Shown } from '../oracle/told/shown.js';
import { must } from '../oracle/violation.js';

export interface ToldEvent extends Shown {
  readonly seq: number;
  readonly auction_id: string;
  readonly timeline_seq: number;
  readonly kind: string;
  readonly occurred_at: string;
}

export interface ToldView extends Shown {
  readonly auction_id: string;
  readonly view_version: number;
}

/** One auction, and how far its timeline is known. */
export interface Wish {
  readonly auctionId: string;
  readonly afterSeq: number | undefined;
}

const EVENT_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'subscription_id',
  'seq',
  'auction_id',
  'timeline_seq',
  'kind',
  'occurred_at',
  'data',
  'resume_token',
]);
const DENSE = 'streams are dense';
const TRUE = 'streams tell what happened';
const COMPLETE = 'streams are complete';

/** What one subscription was sent over all its sockets, compared with the journals. */
export class SubscriptionRecord {
  last = 0;
  events = 0;
  /** For each shard, the last record of its journal that produced an event. */
  readonly positions: number[] = [];
  /** How much of each auction's timeline is known. */
  private readonly known = new Map<string, number>();
  private parts: ToldView[] | undefined = [];
  /** Auctions that were over when a snapshot left them out. */
  private leftOut = new Set<string>();
  /** The known position of the timeline at which events start, until the auction's snapshot has arrived. */
  private startsAfter: number | undefined;

  constructor(
    private readonly oracle: Oracle,
    private readonly account: string,
    private readonly id: string,
    /** The auction of a subscription to one auction; absent for all auctions. */
    private readonly wish?: Wish,
  ) {
    this.startsAfter = wish?.afterSeq;
  }

  get hasBegun(): boolean {
    return this.parts === undefined;
  }

  snapshot(views: readonly ToldView[], more: boolean): void {
    this.parts = [...(this.parts ?? []), ...views];
    for (const view of views) {
      const { auction_id: id, view_version: version } = view;
      const story = this.oracle.storyOf(id, this.account);
      must(
        version > 0 && version <= story.length,
        TRUE,
        () => `${this.id}: ${id} at version ${version} of ${story.length}`,
      );
      must(this.isAbout(id), TRUE, () => `${this.id}: it is shown ${id}`);
      const difference = differenceOf(story[version - 1]?.sight?.view, view);
      must(difference === undefined, TRUE, () => `${this.id}: ${id} as it is shown: ${difference ?? ''}`);
      this.note(id, story[version - 1]);
    }
    if (more) return;
    // A timeline that has begun must be sent to its end, even if a snapshot in between leaves the auction out.
    for (const { auction_id: id, view_version: version } of this.parts)
      this.known.set(id, Math.min(version, this.startsAfter ?? version));
    this.startsAfter = undefined;
    this.leftOut = new Set(
      this.ownFiles().flatMap(({ id, over }) => (over.has(this.account) && !this.known.has(id) ? [id] : [])),
    );
    this.parts = undefined;
  }

  resync(): void {
    this.parts = [];
    this.startsAfter = undefined;
  }

  event(told: ToldEvent): void {
    const { seq, auction_id: id, timeline_seq: place, kind } = told;
    must(seq === this.last + 1, DENSE, () => `${this.id}: ${seq} follows ${this.last}`);
    must(this.parts === undefined, DENSE, () => `${this.id}: ${kind} before its snapshot`);
    must(this.isAbout(id), TRUE, () => `${this.id}: ${kind} of ${id}`);
    const known = this.known.get(id) ?? 0;
    must(
      place === known + 1,
      DENSE,
      () => `${this.id}: ${kind} is ${place} of ${id}, and ${known} are known`,
    );
    const line = this.oracle.storyOf(id, this.account)[place - 1];
    must(
      line?.kind === kind && line.at === told.occurred_at,
      TRUE,
      () => `${this.id}: ${place} of ${id} is ${kind} instead of ${line?.kind ?? 'nothing'}`,
    );
    const difference = differenceOf(line.data, told.data);
    must(difference === undefined, TRUE, () => `${this.id}: ${place} of ${id}, ${kind}: ${difference ?? ''}`);
    const extra = Object.keys(told).filter((field) => !EVENT_FIELDS.has(field));
    must(extra.length === 0, TRUE, () => `${this.id}: ${kind} comes with ${extra.join()}`);
    this.last = seq;
    this.events += 1;
    this.known.set(id, place);
    this.note(id, line);
  }

  isComplete(): boolean {
    return this.parts === undefined && this.missing() === undefined;
  }

  checkAtRest(): void {
    must(this.parts === undefined, COMPLETE, () => `${this.id} has no snapshot`);
    const missing = this.missing();
    must(
      missing === undefined,
      COMPLETE,
      () => `${this.id}: ${this.known.get(missing ?? '') ?? 'nothing'} of ${missing ?? ''}`,
    );
  }

  private isAbout(auctionId: string): boolean {
    return this.wish === undefined || this.wish.auctionId === auctionId;
  }

  private note(auctionId: string, { sequence = 0 }: Partial<StoryLine> = {}): void {
    // A subscription to one auction may start from what was read elsewhere.
    if (this.wish !== undefined) return;
    const shard = this.oracle.files.get(auctionId)?.shard ?? 0;
    this.positions[shard] = Math.max(this.positions[shard] ?? 0, sequence);
  }

  /** An auction whose timeline is incomplete. */
  private missing(): string | undefined {
    return this.ownFiles().find(({ id }) => {
      const known = this.known.get(id);
      return known === undefined
        ? !this.leftOut.has(id)
        : known !== this.oracle.storyOf(id, this.account).length;
    })?.id;
  }

  private ownFiles(): AuctionFile[] {
    return [...this.oracle.files.values()].filter(
      ({ id, stories }) => stories.has(this.account) && this.isAbout(id),
    );
  }
}

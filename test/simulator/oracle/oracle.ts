import type { Tables } from '../storage/tables.js';
import { Archive } from './archive.js';
import type { AuctionFile, StoryLine } from './auction-file.js';
import { OwnersKnowledge } from './freshness.js';
import { mustBeGone, mustHaveBeenLeft, mustHaveNoFrozen } from './interventions.js';
import { KeptHistories } from './kept-histories.js';
import { mustHaveGoneByNow } from './left-standing.js';
import { LiveAuctions } from './live-auctions.js';
import { mustBeLost, type Graces } from './lost-streams.js';
import { JournalCopy } from './journal-copy.js';
import { MoneyBook } from './money-book.js';
import { PolicyBook } from './policy-book.js';
import { ProtectionBounds } from './protection-bounds.js';
import { mustBePunctual } from './punctuality.js';
import type { PlacedEvent, RawAward, RawEvent, RawSettlement, RawTerms } from './raw-events.js';
import { StandingQuotes } from './standing-quotes.js';
import { must } from './violation.js';

const EXECUTION = 'execution follows the ledger';
const DEADLINES = 'the execution deadline';
const TOO_LATE = 'EXECUTION_DEADLINE_PASSED';
const CARRIED = 'what can be settled is settled';
const EARLY = 'nothing is over before its time';
const MISLED = 'an owner that cannot trust its clock closes nothing';

/** Time as nobody in the world knows it, and how far ahead of it an owner may be that believes its clock. */
export interface TrueTime {
  readonly now: () => string;
  readonly aheadMillis: number;
  /** Since when all that writes in a shard has had a clock that nobody may believe; undefined where something has not. */
  readonly misledSince: (shard: number) => string | undefined;
  /** Whether nothing goes wrong in this world but that streams are lost. */
  readonly isCalm: boolean;
  /** Whether nothing goes wrong but that owners end and streams are lost. */
  readonly isSteady: boolean;
  /** Since when the shard's owner has been at work, in milliseconds; without end where it is not. */
  readonly servesSince: (shard: number) => number;
  /** Whether an earlier owner of the shard went on at that time, in milliseconds, and had not noticed anything. */
  readonly formerWentOn: (shard: number, atMillis: number) => boolean;
  readonly streams: Graces;
}

/** Everything that is known of the world by looking at its disks, and checked while it grows. */
export class Oracle {
  readonly copies: readonly JournalCopy[] = [0, 1, 2].map((shard) => new JournalCopy(shard));
  readonly archive = new Archive();
  readonly money: MoneyBook;
  readonly policies: PolicyBook;
  readonly standing: StandingQuotes;
  readonly protection: ProtectionBounds;
  private readonly live: LiveAuctions;
  private readonly histories: KeptHistories;
  readonly reached = new Map<string, number>();
  private readonly awards = new Map<string, { readonly file: AuctionFile; readonly award: RawAward }>();

  /** What every owner must know that answers. */
  readonly owners: OwnersKnowledge;

  constructor(
    private readonly tables: Tables,
    private readonly nowMillis: () => number,
    private readonly time: TrueTime,
    /** How many auctions may be live in a shard at a time. */
    activeAuctionLimit: number,
  ) {
    this.owners = new OwnersKnowledge(nowMillis, time.formerWentOn);
    this.standing = new StandingQuotes(nowMillis);
    this.live = new LiveAuctions(activeAuctionLimit);
    this.histories = new KeptHistories(tables, this.archive.files);
    this.policies = new PolicyBook(tables, nowMillis, time.isCalm);
    this.protection = new ProtectionBounds(tables, nowMillis, time.isCalm, (by) =>
      this.count(`protection tripped by ${by}`),
    );
    this.money = new MoneyBook(tables, (awardId) => this.awards.get(awardId), time.isCalm);
  }

  onMessage(shard: number, offset: number, value: Buffer): void {
    const copy = this.copies[shard];
    const epoch = copy?.epoch;
    const placed = copy?.take(offset, value);
    if (copy?.epoch !== epoch) this.owners.takenOver(shard);
    if (placed !== undefined) this.onEvent(placed);
  }

  /** `workedAt` is when the last statement was carried out of what is committed. */
  onCommit(workedAt: string): void {
    this.money.onCommit(workedAt);
    this.policies.onCommit();
    this.protection.onCommit();
    this.histories.onCommit();
  }

  get files(): ReadonlyMap<string, AuctionFile> {
    return this.archive.files;
  }

  servesFor(shard: number): number {
    return this.nowMillis() - this.time.servesSince(shard);
  }

  storyOf(auctionId: string, account: string): readonly StoryLine[] {
    return this.archive.storyOf(auctionId, account);
  }

  private onEvent(placed: PlacedEvent): void {
    const { event } = placed;
    this.count(`event ${event.type}`);
    this.countDetails(event);
    this.checkTime(placed);
    if (this.time.isCalm) mustBePunctual(placed, this.time.now());
    this.policies.wrote(placed);
    this.protection.take(placed);
    const file = this.archive.take(placed);
    this.live.take(placed, file);
    if (file === undefined) return;
    this.standing.recount(file);
    mustBeGone(event, file, this.policies);
    if (event.type === 'AUCTION_CLOSED') this.checkLeft(file);
    if (this.time.isCalm || this.time.isSteady) mustBeLost(placed, this.archive, this.time.streams);
    for (const award of event.data.awards ?? []) this.awards.set(award.award_id, { file, award });
    if (event.type === 'AUCTION_AWARDED') this.countAwarded(file, event.data.awards ?? []);
    this.checkExecution(placed);
    this.money.recount(file);
  }

  private checkLeft(file: AuctionFile): void {
    const { isCalm, isSteady, streams, servesSince } = this.time;
    const nowMillis = this.nowMillis();
    const since = servesSince(file.shard);
    if (isCalm || isSteady) mustHaveBeenLeft(file, this.policies, nowMillis, since);
    if (isCalm) mustHaveNoFrozen(file, this.policies, nowMillis);
    if (isSteady) mustHaveGoneByNow(file, { ...streams, nowMillis, servesSince: since });
  }

  private count(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }

  private countDetails({ type, data }: RawEvent): void {
    if (type === 'QUOTE_WITHDRAWN') this.count(`withdrawn by ${data.by ?? ''}`);
    if (type === 'AUCTION_OPENED') this.count(`allocation ${data.terms?.allocation ?? ''}`);
    if (type === 'QUOTE_REVISED')
      this.count(data.keeps_priority === true ? 'priority kept' : 'priority lost');
    if (type === 'AUCTION_NOT_AWARDED') this.count(`nobody won ${data.reason ?? ''}`);
    if ((data.awards?.length ?? 0) > 1) this.count('several winners');
    if (data.terms !== undefined) this.countTerms(data.terms);
  }

  private countTerms({ side, routes, quote_revision_policy: policy }: RawTerms): void {
    this.count(`side ${side}`);
    this.count(`revisions ${policy}`);
    if (routes.length > 1) this.count('several routes');
  }

  private countAwarded({ terms }: AuctionFile, awards: readonly RawAward[]): void {
    const awarded = awards.reduce((sum, { quantity_atoms: quantity }) => sum + quantity, 0);
    this.count(awarded < terms.quantity_atoms ? 'awarded a part' : 'awarded the whole');
  }

  private countSettled({ delivered_atoms: delivered }: RawSettlement, id: string): void {
    const { award } = this.awards.get(id) ?? {};
    if (award === undefined) return;
    const issued = delivered === 0 ? 'all' : delivered < award.quantity_atoms ? 'some' : 'none';
    this.count(`tokens issued for ${issued}`);
  }

  /** Its own time is the one that was agreed on, whenever it is written; so what is looked at is when it is. */
  private checkTime({ shard, event: { type, at, auction_id: id } }: PlacedEvent): void {
    if (type !== 'AUCTION_CLOSED' && type !== 'QUOTE_EXPIRED') return;
    const now = this.time.now();
    const since = this.time.misledSince(shard);
    const aheadMillis = Date.parse(at) - Date.parse(now);
    must(
      aheadMillis <= this.time.aheadMillis,
      EARLY,
      () => `${type} of ${id ?? ''} for ${at} is written at ${now}`,
    );
    // Whoever decided on it did so when it was due, or later.
    must(
      since === undefined || Date.parse(at) - this.time.aheadMillis <= Date.parse(since),
      MISLED,
      () => `${type} of ${id ?? ''} for ${at} in shard ${shard}, misled since ${since ?? ''}`,
    );
  }

  /** Who gave it up may have been ahead, and who writes it down be another owner, whose clock says less. */
  private checkDeadline(awardId: string): void {
    const { now, aheadMillis } = this.time;
    const deadline = this.awards.get(awardId)?.file.executionDeadline ?? '';
    must(
      Date.parse(now()) + aheadMillis >= Date.parse(deadline),
      DEADLINES,
      () => `${awardId} is given up at ${now()}, before ${deadline}`,
    );
  }

  private checkExecution({ event: { type, data } }: PlacedEvent): void {
    if (type !== 'EXECUTION_CONFIRMED' && type !== 'EXECUTION_FAILED') return;
    const id = data.award_id ?? '';
    if (data.reason === TOO_LATE) this.checkDeadline(id);
    // Everything that it needs is set aside, and nobody is in the way of it.
    must(
      type === 'EXECUTION_CONFIRMED' || !this.time.isCalm,
      CARRIED,
      () => `${id} is given up for ${data.reason ?? 'nothing'}, and nothing went wrong`,
    );
    const row = this.tables.settlements.rows.get(id);
    const outcome = row?.outcome;
    const expected = type === 'EXECUTION_CONFIRMED' ? 'SETTLED' : 'FAILED';
    must(
      outcome === expected,
      EXECUTION,
      () => `${type} of ${id}, which the ledger has ${outcome ?? 'not ended'}`,
    );
    if (type !== 'EXECUTION_CONFIRMED') return;
    const { venue, asset, delivered_atoms: delivered } = data.settlement ?? {};
    if (data.settlement !== undefined) this.countSettled(data.settlement, id);
    must(
      row?.venue === venue && row?.asset === asset && row?.delivered_atoms === delivered,
      EXECUTION,
      () =>
        `${id} was settled by ${row?.venue ?? ''} ${row?.asset ?? ''}, told as ${venue ?? ''} ${asset ?? ''}`,
    );
  }
}

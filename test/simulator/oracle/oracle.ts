import type { Tables } from '../storage/tables.js';
import { OracleArchive } from './archive.js';
import type { AuctionFile, StoryLine } from './auction-file.js';
import { OwnersKnowledge } from './freshness.js';
import { KeptAway } from './kept-away.js';
import { KeptHistories } from './kept-histories.js';
import { mustBeLost, type Graces } from './lost-streams.js';
import { JournalCopy } from './journal-copy.js';
import { MoneyBook } from './money-book.js';
import { mustBePunctual } from './punctuality.js';
import type { PlacedEvent, RawAward, RawEvent, RawSettlement } from './raw-events.js';
import { must } from './violation.js';

const EXECUTION = 'execution follows the ledger';
const DEADLINES = 'the execution deadline';
const TOO_LATE = 'EXECUTION_DEADLINE_PASSED';
const CARRIED = 'what can be settled is settled';
const EARLY = 'nothing is over before its time';

/** The true time, which no process knows, and how far ahead an owner's trusted clock may be. */
export interface TrueTime {
  readonly now: () => string;
  readonly aheadMillis: number;
  /** Whether the only faults in this world are lost streams. */
  readonly isCalm: boolean;
  /** Since when the shard's owner has been ready, in milliseconds; Infinity if it is not. */
  readonly servesSince: (shard: number) => number;
  /** Whether a replaced owner of the shard still ran at that time, in milliseconds, without having noticed. */
  readonly formerWentOn: (shard: number, atMillis: number) => boolean;
  readonly streams: Graces;
}

/** Reads all disks of the world and checks them as they grow. */
export class Oracle {
  readonly copies: readonly JournalCopy[] = [0, 1, 2].map((shard) => new JournalCopy(shard));
  readonly archive = new OracleArchive();
  readonly money: MoneyBook;
  private readonly protection: KeptAway;
  private readonly histories: KeptHistories;
  readonly reached = new Map<string, number>();
  private readonly awards = new Map<string, { readonly file: AuctionFile; readonly award: RawAward }>();

  /** What every answering owner must know. */
  readonly owners: OwnersKnowledge;

  constructor(
    private readonly tables: Tables,
    private readonly nowMillis: () => number,
    private readonly time: TrueTime,
  ) {
    this.owners = new OwnersKnowledge(nowMillis, time.formerWentOn);
    this.histories = new KeptHistories(tables, this.archive.files);
    this.protection = new KeptAway(tables, nowMillis, () => this.count('protection tripped'));
    this.money = new MoneyBook(tables, (awardId) => this.awards.get(awardId), time.isCalm);
  }

  onMessage(shard: number, offset: number, value: Buffer): void {
    const copy = this.copies[shard];
    const epoch = copy?.epoch;
    const placed = copy?.take(offset, value);
    if (copy?.epoch !== epoch) this.owners.takenOver(shard);
    if (placed !== undefined) this.onEvent(placed);
  }

  /** `workedAt` is when the last statement of the commit was executed. */
  onCommit(workedAt: string): void {
    this.money.onCommit(workedAt);
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
    if (this.time.isCalm) this.protection.mustKeepAway(placed);
    const file = this.archive.take(placed);
    if (file === undefined) return;
    if (this.time.isCalm && event.type === 'AUCTION_CLOSED') this.protection.mustHavePulled(file);
    if (this.time.isCalm) mustBeLost(placed, this.archive, this.time.streams);
    for (const award of event.data.awards ?? []) this.awards.set(award.award_id, { file, award });
    this.checkExecution(placed);
    this.money.recount(file);
  }

  private count(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }

  private countDetails({ type, data }: RawEvent): void {
    if (type === 'QUOTE_WITHDRAWN') this.count(`withdrawn by ${data.by ?? ''}`);
    if (type === 'QUOTE_REVISED')
      this.count(data.keeps_priority === true ? 'priority kept' : 'priority lost');
    if (type === 'AUCTION_NOT_AWARDED') this.count(`not awarded: ${data.reason ?? ''}`);
    if ((data.awards?.length ?? 0) > 1) this.count('several winners');
    const { terms } = data;
    if (terms === undefined) return;
    this.count(`allocation ${terms.allocation}`);
    this.count(`side ${terms.side}`);
    this.count(`revisions ${terms.quote_revision_policy}`);
    if (terms.routes.length > 1) this.count('several routes');
  }

  private countSettled({ delivered_atoms: delivered }: RawSettlement, id: string): void {
    const { award } = this.awards.get(id) ?? {};
    if (award === undefined) return;
    const issued = delivered === 0 ? 'all' : delivered < award.quantity_atoms ? 'some' : 'none';
    this.count(`tokens issued for ${issued}`);
  }

  /** The event carries the agreed time however late it is written, so the time of writing is checked. */
  private checkTime({ event: { type, at, auction_id: id } }: PlacedEvent): void {
    if (type !== 'AUCTION_CLOSED' && type !== 'QUOTE_EXPIRED') return;
    const now = this.time.now();
    const aheadMillis = Date.parse(at) - Date.parse(now);
    must(
      aheadMillis <= this.time.aheadMillis,
      EARLY,
      () => `${type} of ${id ?? ''} for ${at} is written at ${now}`,
    );
  }

  /** The clock of the owner that gave up may have been ahead, and another owner with a slower clock may write it down. */
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
    // All that the award needs is reserved, and nothing blocks it.
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
        `${id} was settled by ${row?.venue ?? ''} ${row?.asset ?? ''}, recorded as ${venue ?? ''} ${asset ?? ''}`,
    );
  }
}

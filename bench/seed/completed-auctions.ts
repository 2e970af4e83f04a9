import { decideClose } from '#libs/auction/rules/decide/close.js';
import { decideExecution } from '#libs/auction/rules/decide/execution.js';
import { holdFor } from '#libs/auction/rules/holds.js';
import { instantFromNanos, plusMillis, type Instant } from '#libs/base/instant.js';
import { opened } from '#libs/auction/rules/decide/plan-create.js';
import { submitted } from '#libs/auction/rules/decide/plan-submit.js';
import type {
  AwardToSettle,
  SettlementAttempt,
  SettlementDesk,
} from '#libs/auction/settlement/settlement.js';
import { PendingAwards } from '#libs/auction/shard/pending-awards.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { isConnectionFailure } from '#libs/platform/database/postgres.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { openedAt, type Calendar, type SeedRound } from './calendar.js';
import { refused, type Planner } from './planner.js';
import type { ShardScribe } from './shard-scribe.js';

export interface CompletedPorts {
  readonly planner: Planner;
  readonly ledger: SettlementDesk;
  readonly clock: Clock;
  readonly onOpened: (number: number, auctionId: string, at: Instant) => void;
  readonly onCompleted: (auctions: number) => void;
}

/** The accounts hold no outcome tokens: collateral covers what they sell. */
const NO_TOKENS = (): number => 0;

/** Auctions between two refreshes of the policy. */
const POLICY_REFRESH_EVERY = 250;
const ATTEMPTS = 5;
const RETRY_MILLIS = 200;
const SETTLE_WITHIN_MILLIS = 60_000;

/** Writes auctions from opening to end, round by round, as their shard's owner would journal them. */
export class CompletedAuctionSeeder {
  constructor(
    private readonly ports: CompletedPorts,
    private readonly calendar: Calendar,
    private readonly quotes: number,
  ) {}

  /** Writes the auctions of the shard. */
  async play(scribe: ShardScribe): Promise<void> {
    for (const round of this.calendar.rounds) {
      const ids = await this.open(scribe, round);
      this.close(scribe, ids);
      await scribe.flush();
      await this.settle(scribe, ids);
      await scribe.retire();
      this.ports.onCompleted(ids.length);
    }
    await scribe.flush();
  }

  private async open(scribe: ShardScribe, round: SeedRound): Promise<string[]> {
    const { planner, onOpened } = this.ports;
    const ids: string[] = [];
    for (let number = round.from; number < round.end; number += 1) {
      if (planner.shardOf(number) !== scribe.shard) continue;
      const at = openedAt(this.calendar, round, number);
      const { auctionId, command, terms, need } = await planner.opening(number, at, this.calendar.durationMs);
      const [body] = opened(terms, holdFor(need, NO_TOKENS));
      if (body === undefined) throw new Error('an auction opens with an event');
      scribe.write(auctionId, at, body, command);
      await this.quote(scribe, number, auctionId, at);
      onOpened(number, auctionId, at);
      ids.push(auctionId);
      if (ids.length % POLICY_REFRESH_EVERY === 0) await planner.refresh();
    }
    return ids;
  }

  private async quote(scribe: ShardScribe, number: number, auctionId: string, at: Instant): Promise<void> {
    const { planner } = this.ports;
    const isAwarded = planner.cast.isAwarded(number);
    const state = scribe.book.find(auctionId)?.head;
    if (state === undefined) throw new Error(`auction ${auctionId} has not opened`);
    const count = isAwarded ? Math.max(1, this.quotes) : this.quotes;
    const quotes = await planner.quotes(number, state, count, isAwarded, at);
    for (const { command, quote, need } of quotes) {
      scribe.write(auctionId, at, submitted(quote, holdFor(need, NO_TOKENS)), command);
    }
  }

  private close(scribe: ShardScribe, ids: readonly string[]): void {
    const awardId = (quoteId: string): string => this.ports.planner.awardId(quoteId);
    for (const id of ids) {
      const state = scribe.book.find(id)?.head;
      if (state === undefined) throw new Error(`auction ${id} is not there to be closed`);
      for (const { at, body } of decideClose(state, { awardId })) scribe.write(id, at, body);
    }
  }

  /** Settled in the ledger first: a confirmation reports what has happened. */
  private async settle(scribe: ShardScribe, ids: readonly string[]): Promise<void> {
    const pending = new PendingAwards(this.ports.clock);
    for (const id of ids) {
      const entry = scribe.book.find(id);
      if (entry !== undefined) pending.note(entry);
    }
    for (;;) {
      const awards = await pending.next([], 0);
      if (awards.length === 0) return;
      await Promise.all(awards.map((award) => this.settleAward(scribe, award)));
      await scribe.flush();
      for (const { auction_id: id } of awards) {
        const entry = scribe.book.find(id);
        if (entry !== undefined) pending.note(entry);
      }
    }
  }

  private async settleAward(scribe: ShardScribe, award: AwardToSettle): Promise<void> {
    // The award's deadline is in the past like the auction, but the ledger settles now.
    const deadline = plusMillis(instantFromNanos(this.ports.clock.epochNanos()), SETTLE_WITHIN_MILLIS);
    const result = await this.settled({ ...award, deadline });
    if (result.outcome !== 'SETTLED') {
      throw new StartFault(`award ${award.award_id} cannot be settled: ${result.reason}`);
    }
    for (const step of ['SUBMITTED', 'CONFIRMED'] as const) {
      const state = scribe.book.find(award.auction_id)?.head;
      if (state === undefined) throw new Error(`auction ${award.auction_id} is not there to be settled`);
      const { settlement } = result;
      const report = { award_id: award.award_id, step, attempt: 1, settlement };
      const decision = decideExecution(state, report, { now: scribe.latest });
      if (!decision.ok) throw refused(decision);
      for (const { at, body } of decision.events) scribe.write(award.auction_id, at, body);
    }
  }

  /**
   * A process that was paused for seconds has lost its sessions. Repeating is safe: the ledger settles an
   * award once.
   */
  private async settled(award: AwardToSettle): Promise<SettlementAttempt> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.ports.ledger.settle(award);
      } catch (error) {
        if (!isConnectionFailure(error) || attempt === ATTEMPTS) throw error;
        await pause(this.ports.clock, RETRY_MILLIS);
      }
    }
  }
}

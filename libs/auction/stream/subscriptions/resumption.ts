import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { newestFirst, type Feed, type ViewerState } from '../feed/feed.js';
import type { HistoryCatchUp } from '../feed/history-catch-up.js';
import type { Outbox } from '#libs/socket/outbox.js';
import type { ResumePoint } from '../resume-point.js';
import type { ResyncReason } from '../server-messages.js';
import { Replay, type Gap } from './replay.js';
import { concerns, isAhead, isTold, shardOf, type Subscription } from './subscription.js';
import type { EventNumbering } from './event-numbering.js';

/** Why subscriptions of a token, by number, cannot continue. */
export type Broken = ReadonlyMap<number, ResyncReason>;
export type Reasons = ReadonlyMap<Subscription, ResyncReason>;

export interface ResumptionPorts {
  readonly outbox: Outbox<Subscription>;
  readonly numbering: EventNumbering;
  readonly history: HistoryCatchUp;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly account: string;
  /** How long this gateway waits for events that the client has seen and it has not. */
  readonly patienceMillis: number;
  readonly onResync: (reason: ResyncReason) => void;
  /** Everything was sent. The subscriptions in `left` need a snapshot of the present. */
  readonly onDone: (left: Reasons) => void;
  readonly onFault: (error: unknown) => void;
}

/**
 * Brings a connection from its token to the present. Incomplete snapshots are sent again as they were. Brokers may
 * report old heads, so it waits for events that only the client has seen, and meanwhile sends only what a token can
 * express.
 */
export class Resumption {
  private readonly replay: Replay;
  private readonly left: Map<Subscription, ResyncReason>;
  private isStopped = false;
  private wake: (() => void) | undefined;
  private patienceEndsAt: bigint | undefined;
  /** Set at the end of the wait: what is in memory is all that the journals had then. */
  private hasReadAll = false;

  constructor(
    private readonly ports: ResumptionPorts,
    private readonly point: ResumePoint,
    broken: Broken,
  ) {
    const { numbering, history, outbox, feed } = ports;
    const present = feed.positions();
    this.left = reasonsIn(numbering.all(), broken);
    for (const subscription of this.left.keys()) subscription.isComplete = false;
    this.replay = new Replay(
      {
        history,
        hasRoom: () => outbox.hasRoom,
        tell: (shard, event) => !this.isStopped && numbering.send(shard, event),
        isWhole: (shard) =>
          shard !== point.tokenlessShard || this.ahead().every(({ auctionId }) => auctionId !== undefined),
      },
      // A shard on which no resumed subscription depends need not be recalled.
      present.map((position, shard) => (this.isNeeded(shard) ? (point.positions[shard] ?? 0) : position)),
      point.tokenlessShard,
    );
  }

  /** By shard, the position up to which everything was sent. */
  get cursors(): readonly number[] {
    return this.replay.cursors;
  }

  begin(): void {
    const incomplete = this.toBeSentAgain();
    if (incomplete.length === 0) this.goOn();
    else {
      this.afterwards(this.liveAtToken(), (viewerStates) => {
        this.sendAgain(incomplete, viewerStates);
        this.goOn();
      });
    }
  }

  /** What is in memory and not sent yet, by auction. Undefined where something must be recalled first. */
  untold(): Iterable<string | undefined> {
    return this.replay.untold();
  }

  stop(): void {
    this.isStopped = true;
    this.wake?.();
  }

  /** A subscription was removed, so there may be nothing left to wait for. */
  look(): void {
    this.wake?.();
  }

  private goOn(): void {
    if (this.isStopped) return;
    const { numbering, onDone } = this.ports;
    const outcome = this.replay.goOn();
    if (outcome === 'STOPPED') return;
    numbering.leave();
    if (outcome === 'DONE' && this.ahead().length === 0) {
      onDone(this.left);
      return;
    }
    const ready = outcome === 'DONE' || outcome === 'NOT_WHOLE' ? this.progress() : this.recallGap(outcome);
    this.afterwards(ready, () => {
      this.goOn();
    });
  }

  private async recallGap(outcome: 'WAITING' | Gap): Promise<void> {
    const { outbox, history } = this.ports;
    await outbox.room();
    if (outcome !== 'WAITING') await history.recall(outcome.shard, outcome.position);
  }

  /** Subscriptions whose client has seen more than this gateway. */
  private ahead(): Subscription[] {
    return this.ports.numbering.all().filter(isAhead);
  }

  /** Resolves when there may be more to send, or nothing left to wait for. */
  private async progress(): Promise<void> {
    if (this.hasReadAll) this.giveUp();
    else if (!(await this.waitForGain())) await this.readAll();
  }

  /** True once the account's timelines gain something or the wait is pointless, false when time is up. */
  private waitForGain(): Promise<boolean> {
    const { feed, clock, account, patienceMillis } = this.ports;
    const now = clock.monotonicNanos();
    this.patienceEndsAt ??= now + BigInt(patienceMillis) * NANOS_PER_MILLI;
    const left = Math.max(0, Math.ceil(Number(this.patienceEndsAt - now) / Number(NANOS_PER_MILLI)));
    return new Promise((resolve) => {
      const end = (hasGained: boolean): void => {
        unlisten();
        cancel();
        this.wake = undefined;
        resolve(hasGained);
      };
      const wake = (): void => {
        end(true);
      };
      const unlisten = feed.listen(account, { onEvents: wake });
      const cancel = clock.after(left, () => {
        end(false);
      });
      this.wake = wake;
    });
  }

  private async readAll(): Promise<void> {
    const { feed, patienceMillis } = this.ports;
    const heads = await feed.heads();
    const isRead = (): boolean => this.isStopped || feed.hasRead(heads);
    if (!(await feed.waitUntil(isRead, patienceMillis))) throw new Error('the journals cannot be read');
    this.hasReadAll = true;
  }

  private giveUp(): void {
    for (const subscription of this.ahead()) {
      subscription.isComplete = false;
      this.left.set(subscription, 'HISTORY_GONE');
    }
  }

  private sendAgain(incomplete: readonly Subscription[], viewerStates: readonly ViewerState[]): void {
    const { numbering, onResync } = this.ports;
    for (const subscription of incomplete) {
      if (this.isStopped) return;
      const shown = viewerStates.filter(({ state }) =>
        concerns(subscription, { auctionId: state.terms.auction_id }),
      );
      if (subscription.auctionId !== undefined && shown.length === 0) continue;
      this.left.delete(subscription);
      onResync('SNAPSHOT_INCOMPLETE');
      numbering.sendResync(subscription, 'SNAPSHOT_INCOMPLETE');
      numbering.sendSnapshot(subscription, shown, true);
    }
  }

  /** What was live for the account at the token's positions. */
  private async liveAtToken(): Promise<readonly ViewerState[]> {
    const { history } = this.ports;
    const viewerStates: ViewerState[] = [];
    for (const [shard, position] of this.point.positions.entries()) {
      if (this.isNeeded(shard)) viewerStates.push(...(await history.liveAt(shard, position)));
    }
    return viewerStates.sort(newestFirst);
  }

  /** Without subscriptions that still get earlier entries: their snapshot shows the present. */
  private toBeSentAgain(): Subscription[] {
    return [...this.left].flatMap(([subscription, reason]) => {
      const { isOver, told } = subscription;
      return reason === 'SNAPSHOT_INCOMPLETE' && !isOver && told === undefined ? [subscription] : [];
    });
  }

  private isNeeded(shard: number): boolean {
    const dependent = [...this.ports.numbering.all().filter(isTold), ...this.toBeSentAgain()];
    return dependent.some(({ auctionId }) => auctionId === undefined || shardOf(auctionId) === shard);
  }

  private afterwards<T>(ready: Promise<T>, next: (value: T) => void): void {
    const { outbox, onFault } = this.ports;
    ready
      .then((value) => {
        if (this.isStopped) return;
        outbox.together(() => {
          next(value);
        });
      })
      .catch((error: unknown) => {
        if (!this.isStopped) onFault(error);
      });
  }
}

function reasonsIn(subscriptions: readonly Subscription[], broken: Broken): Map<Subscription, ResyncReason> {
  const reasons = new Map<Subscription, ResyncReason>();
  for (const subscription of subscriptions) {
    const reason = broken.get(subscription.number);
    if (reason !== undefined) reasons.set(subscription, reason);
  }
  return reasons;
}

import { newestFirst, type Sight } from '../feed/feed.js';
import type { Recollection } from '../feed/recollection.js';
import type { Outbox } from '../outbox.js';
import type { ResumePoint } from '../resume-point.js';
import type { ResyncReason } from '../server-messages.js';
import { Replay, type Gap } from './replay.js';
import { concerns, isTold, shardOf, type Subscription } from './subscription.js';
import type { Teller } from './teller.js';

/** Why subscriptions of a token, by number, cannot be told what comes next. */
export type Broken = ReadonlyMap<number, ResyncReason>;
export type Reasons = ReadonlyMap<Subscription, ResyncReason>;

export interface ResumptionPorts {
  readonly outbox: Outbox<Subscription>;
  readonly teller: Teller;
  readonly recollection: Recollection;
  /** By shard, where the feed is. */
  readonly present: readonly number[];
  readonly onResync: (reason: ResyncReason) => void;
  /** All has been told; these are left, to be told anew from the present. */
  readonly onDone: (left: Reasons) => void;
  readonly onFault: (error: unknown) => void;
}

/**
 * A connection on its way from where its token was given out to the present. Snapshots that had not arrived whole are shown
 * again as they were then, so that what came behind them follows: also how auctions ended that are over by now.
 */
export class Resumption {
  private readonly replay: Replay;
  private readonly left: Map<Subscription, ResyncReason>;
  private isStopped = false;

  constructor(
    private readonly ports: ResumptionPorts,
    private readonly point: ResumePoint,
    broken: Broken,
  ) {
    const { teller, recollection, outbox, present } = ports;
    this.left = reasonsIn(teller.all(), broken);
    for (const subscription of this.left.keys()) subscription.isComplete = false;
    this.replay = new Replay(
      {
        recollection,
        hasRoom: () => outbox.hasRoom,
        tell: (shard, event) => !this.isStopped && teller.tell(shard, event),
      },
      // A shard on which nobody depends who is continued need not be recalled.
      present.map((position, shard) => (this.isNeeded(shard) ? (point.positions[shard] ?? 0) : position)),
      point.lane,
    );
  }

  /** By shard, up to where everything has been told. */
  get cursors(): readonly number[] {
    return this.replay.cursors;
  }

  begin(): void {
    const incomplete = this.toBeShownAgain();
    if (incomplete.length === 0) this.goOn();
    else {
      this.behind(this.seenThen(), (sights) => {
        this.showAgain(incomplete, sights);
        this.goOn();
      });
    }
  }

  /** What is at hand of what is still to be told, by auction; undefined where something would have to be recalled. */
  untold(): Iterable<string | undefined> {
    return this.replay.untold();
  }

  stop(): void {
    this.isStopped = true;
  }

  private goOn(): void {
    if (this.isStopped) return;
    const { teller, onDone } = this.ports;
    const outcome = this.replay.goOn();
    if (outcome === 'STOPPED') return;
    teller.leave();
    if (outcome === 'DONE') onDone(this.left);
    else {
      this.behind(this.ready(outcome), () => {
        this.goOn();
      });
    }
  }

  private async ready(outcome: 'WAITING' | Gap): Promise<void> {
    const { outbox, recollection } = this.ports;
    await outbox.room();
    if (outcome !== 'WAITING') await recollection.recall(outcome.shard, outcome.position);
  }

  private showAgain(incomplete: readonly Subscription[], sights: readonly Sight[]): void {
    const { teller, onResync } = this.ports;
    for (const subscription of incomplete) {
      if (this.isStopped) return;
      const shown = sights.filter(({ state }) =>
        concerns(subscription, { auctionId: state.terms.auction_id }),
      );
      if (subscription.auctionId !== undefined && shown.length === 0) continue;
      this.left.delete(subscription);
      onResync('SNAPSHOT_INCOMPLETE');
      teller.tellResync(subscription, 'SNAPSHOT_INCOMPLETE');
      teller.tellSnapshot(subscription, shown, true);
    }
  }

  /** What was live for the account where the token was given out. */
  private async seenThen(): Promise<readonly Sight[]> {
    const { recollection } = this.ports;
    const sights: Sight[] = [];
    for (const [shard, position] of this.point.positions.entries()) {
      if (this.isNeeded(shard)) sights.push(...(await recollection.liveAt(shard, position)));
    }
    return sights.sort(newestFirst);
  }

  /** Not those that are told of before behind their snapshot: that begins with the present. */
  private toBeShownAgain(): Subscription[] {
    return [...this.left].flatMap(([subscription, reason]) => {
      const { isOver, told } = subscription;
      return reason === 'SNAPSHOT_INCOMPLETE' && !isOver && told === undefined ? [subscription] : [];
    });
  }

  private isNeeded(shard: number): boolean {
    const dependent = [...this.ports.teller.all().filter(isTold), ...this.toBeShownAgain()];
    return dependent.some(({ auctionId }) => auctionId === undefined || shardOf(auctionId) === shard);
  }

  private behind<T>(ready: Promise<T>, next: (value: T) => void): void {
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

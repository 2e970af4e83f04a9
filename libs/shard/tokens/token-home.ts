import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { AccountBuckets } from './buckets.js';
import { LeaseLedger, type LeaseRecall } from './leases/lease-ledger.js';
import {
  leasedKey,
  type TakeTokens,
  type TokenPeer,
  type TokenRequest,
  type TokensGranted,
} from './token-messages.js';

/** How long a holder may take to report the final use of its leases. */
const RECALL_PATIENCE_MILLIS = 50;
/** A requesting owner waits 50 ms before it meters alone, so it must have its reply well before. */
const RECALL_FOR_OTHERS_MILLIS = 30;
const EXPIRE_EVERY_MILLIS = 1_000;

export interface TokenHomeOptions<Bucket extends string> {
  readonly clock: Clock;
  /** The other owners by shard. */
  readonly peers: ReadonlyMap<number, Pick<TokenPeer<Bucket>, 'recallLeases'>>;
  /** The buckets of the accounts with this home shard. */
  readonly buckets: AccountBuckets<Bucket>;
}

/** The buckets of the accounts with this home shard. It recalls leases before it refuses a caller. */
export class TokenHome<Bucket extends string> {
  private readonly ledger: LeaseLedger<Bucket>;
  private readonly recalls = new Map<string, Promise<void>>();
  private isExpiring = false;

  constructor(private readonly options: TokenHomeOptions<Bucket>) {
    this.ledger = new LeaseLedger(options);
  }

  take(account: string, bucket: Bucket): boolean | Promise<boolean> {
    if (this.options.buckets.take(account, bucket)) return true;
    return this.isLeased(account, bucket) ? this.takeOnceRecalled(account, bucket) : false;
  }

  /** Returns the whole tokens by bucket, once the use by other shards is known. */
  async available(account: string): Promise<ReadonlyMap<Bucket, number>> {
    const { buckets } = this.options;
    let leased = this.leasedOf(account);
    while (leased.length > 0) {
      await Promise.all(leased.map((bucket) => this.recall(account, bucket)));
      leased = this.leasedOf(account);
    }
    return new Map(buckets.rules.names.map((bucket) => [bucket, buckets.available(account, bucket)]));
  }

  /**
   * Answers another owner, after applying its reports. Leases are granted synchronously unless one is recalled, because the
   * owner's next message may already withdraw the request.
   */
  grant(asked: TakeTokens<Bucket>): TokensGranted | Promise<TokensGranted> {
    const { requests, holder, reports } = asked;
    this.ledger.report(holder, reports);
    const granted = this.grantedTo(requests);
    return granted.every((taken) => typeof taken === 'boolean')
      ? this.answerTo(asked, granted)
      : Promise.all(granted.map((taken) => Promise.resolve(taken))).then((all) => this.answerTo(asked, all));
  }

  private answerTo({ holder, wishes }: TakeTokens<Bucket>, granted: readonly boolean[]): TokensGranted {
    const leased = wishes.map((wish) =>
      this.recalls.has(leasedKey(wish.account, wish.bucket)) ? 0 : this.ledger.grant(holder, wish),
    );
    this.expireLater();
    return { granted, leased };
  }

  private grantedTo(requests: readonly TokenRequest<Bucket>[]): (boolean | Promise<boolean>)[] {
    const { clock, buckets } = this.options;
    let patience: Promise<void> | undefined;
    return requests.map(({ account, bucket }) => {
      if (buckets.take(account, bucket)) return true;
      if (!this.isLeased(account, bucket)) return false;
      patience ??= pause(clock, RECALL_FOR_OTHERS_MILLIS);
      return this.takeOnceRecalled(account, bucket, patience);
    });
  }

  /** Repeats until every lease has been recalled: another shard may lease again in the meantime. */
  private async takeOnceRecalled(
    account: string,
    bucket: Bucket,
    patience?: Promise<void>,
  ): Promise<boolean> {
    const late = patience?.then(() => 'LATE');
    while (this.isLeased(account, bucket)) {
      const recalled = this.recall(account, bucket);
      const outcome = await (late === undefined ? recalled : Promise.race([recalled, late]));
      if (this.options.buckets.take(account, bucket)) return true;
      if (outcome === 'LATE') return false;
    }
    return false;
  }

  private leasedOf(account: string): Bucket[] {
    return this.options.buckets.rules.leased.filter((bucket) => this.isLeased(account, bucket));
  }

  private isLeased(account: string, bucket: Bucket): boolean {
    return this.recalls.has(leasedKey(account, bucket)) || this.ledger.isLeased(account, bucket);
  }

  private recall(account: string, bucket: Bucket): Promise<void> {
    const key = leasedKey(account, bucket);
    const begun = this.recalls.get(key);
    if (begun !== undefined) return begun;
    const asked = this.ledger.recall(account, bucket).map((recall) => this.ask(recall));
    const recalled = Promise.all(asked).then(() => {
      this.recalls.delete(key);
    });
    this.recalls.set(key, recalled);
    return recalled;
  }

  /**
   * A holder that does not answer may still use its leases. They stay leased until it reports their end, or until they expire.
   */
  private async ask(recall: LeaseRecall): Promise<void> {
    const { shard, epoch } = recall.holder;
    try {
      const message = { epoch, leases: recall.numbers };
      const answer = await this.options.peers.get(shard)?.recallLeases(message, RECALL_PATIENCE_MILLIS);
      if (answer !== undefined) this.ledger.recalled(recall, answer.used);
    } catch {
      return;
    }
  }

  /** No timer runs while nothing is leased. */
  private expireLater(): void {
    if (this.isExpiring || this.ledger.size === 0) return;
    this.isExpiring = true;
    this.options.clock.after(EXPIRE_EVERY_MILLIS, () => {
      this.isExpiring = false;
      this.ledger.expire();
      this.expireLater();
    });
  }
}

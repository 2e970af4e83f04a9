import type { OwnerLink } from '#libs/auction/protocol/protocol.js';
import { reply, type LinkReply } from '#libs/link/link-protocol.js';
import type {
  BucketName,
  LeasedBucket,
  LeasesCalledIn,
  OwnerRequest,
  TokenRequest,
  TokensGranted,
} from '#libs/auction/protocol/protocol.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { AccountBuckets } from './buckets.js';
import { LeaseLedger, type CallIn } from './leases/lease-ledger.js';
import { isLeased, LEASED, leasedKey } from './leases/leased-bucket.js';

/** How long a holder may take to give an account of its leases. */
const CALL_IN_PATIENCE_MILLIS = 50;
/** Another owner that asks waits 50 ms in all before it meters alone, so it must have its answer well before. */
const CALL_FOR_OTHERS_MILLIS = 30;
const TIDY_EVERY_MILLIS = 1_000;

export interface TokenHomeOptions {
  readonly clock: Clock;
  readonly limitsFactor: number;
  /** The other owners by shard. */
  readonly peers: ReadonlyMap<number, Pick<OwnerLink, 'request'>>;
  /** Of the accounts whose home is here. */
  readonly buckets: AccountBuckets;
}

type TakeTokens = Extract<OwnerRequest, { op: 'take_tokens' }>;

/** The buckets of the accounts at home here. Before anybody is refused, what others hold in advance is called in. */
export class TokenHome {
  private readonly ledger: LeaseLedger;
  private readonly calls = new Map<string, Promise<void>>();
  private isTidying = false;

  constructor(private readonly options: TokenHomeOptions) {
    this.ledger = new LeaseLedger(options);
  }

  take(account: string, bucket: BucketName): boolean | Promise<boolean> {
    if (this.options.buckets.take(account, bucket)) return true;
    return isLeased(bucket) && this.isOut(account, bucket) ? this.takeOnceIn(account, bucket) : false;
  }

  /** Whole tokens, once it is known what has been used elsewhere. */
  async available(account: string): Promise<Record<BucketName, number>> {
    let out = this.outOf(account);
    while (out.length > 0) {
      await Promise.all(out.map((bucket) => this.callIn(account, bucket)));
      out = this.outOf(account);
    }
    return this.options.buckets.available(account);
  }

  /**
   * What another owner asks for, behind what it says of its leases. It is leased at once unless something is called in: the next message
   * may say already that it has given the wish up.
   */
  grant(asked: TakeTokens): LinkReply | Promise<LinkReply> {
    const { requests, holder, reports } = asked;
    this.ledger.report(holder, reports);
    const granted = this.grantedTo(requests);
    return granted.every((taken) => typeof taken === 'boolean')
      ? this.answerTo(asked, granted)
      : Promise.all(granted.map((taken) => Promise.resolve(taken))).then((all) => this.answerTo(asked, all));
  }

  private answerTo({ holder, wishes }: TakeTokens, granted: readonly boolean[]): LinkReply {
    const leased = wishes.map((wish) =>
      this.calls.has(leasedKey(wish.account, wish.bucket)) ? 0 : this.ledger.grant(holder, wish),
    );
    this.tidyLater();
    return reply(200, { granted, leased } satisfies TokensGranted);
  }

  private grantedTo(requests: readonly TokenRequest[]): (boolean | Promise<boolean>)[] {
    const { clock, buckets } = this.options;
    let patience: Promise<void> | undefined;
    return requests.map(({ account, bucket }) => {
      if (buckets.take(account, bucket)) return true;
      if (!isLeased(bucket) || !this.isOut(account, bucket)) return false;
      patience ??= pause(clock, CALL_FOR_OTHERS_MILLIS);
      return this.takeOnceIn(account, bucket, patience);
    });
  }

  /** Until nothing is out that was not called in: between the answers and this take somebody may have leased again. */
  private async takeOnceIn(
    account: string,
    bucket: LeasedBucket,
    patience?: Promise<void>,
  ): Promise<boolean> {
    const late = patience?.then(() => 'LATE');
    while (this.isOut(account, bucket)) {
      const called = this.callIn(account, bucket);
      const outcome = await (late === undefined ? called : Promise.race([called, late]));
      if (this.options.buckets.take(account, bucket)) return true;
      if (outcome === 'LATE') return false;
    }
    return false;
  }

  private outOf(account: string): LeasedBucket[] {
    return LEASED.filter((bucket) => this.isOut(account, bucket));
  }

  private isOut(account: string, bucket: LeasedBucket): boolean {
    return this.calls.has(leasedKey(account, bucket)) || this.ledger.isOut(account, bucket);
  }

  private callIn(account: string, bucket: LeasedBucket): Promise<void> {
    const key = leasedKey(account, bucket);
    const begun = this.calls.get(key);
    if (begun !== undefined) return begun;
    const calls = this.ledger.callIn(account, bucket).map((call) => this.call(call));
    const called = Promise.all(calls).then(() => {
      this.calls.delete(key);
    });
    this.calls.set(key, called);
    return called;
  }

  /** A holder that does not answer may still use what it has: that stays out until it tells, or until its time is over. */
  private async call(call: CallIn): Promise<void> {
    const { shard, life } = call.holder;
    try {
      const request = { op: 'call_in', life, leases: call.numbers } as const;
      const answer = await this.options.peers.get(shard)?.request(request, CALL_IN_PATIENCE_MILLIS);
      if (answer?.status !== 200) return;
      this.ledger.calledIn(call, (JSON.parse(answer.body) as LeasesCalledIn).used);
    } catch {
      return;
    }
  }

  /** Nothing waits for the end of leases while none are out. */
  private tidyLater(): void {
    if (this.isTidying || this.ledger.size === 0) return;
    this.isTidying = true;
    this.options.clock.after(TIDY_EVERY_MILLIS, () => {
      this.isTidying = false;
      this.ledger.tidy();
      this.tidyLater();
    });
  }
}

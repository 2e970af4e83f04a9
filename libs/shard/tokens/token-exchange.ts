import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '#libs/platform/time/clock.js';
import { inSpan, noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import type { AccountBuckets } from './buckets.js';
import { HeldLeases } from './leases/held-leases.js';
import type { TokenHome } from './token-home.js';
import type {
  LeaseHolder,
  LeasesRecalled,
  LeaseWish,
  RecallLeases,
  TakeTokens,
  TokenPeer,
  TokenRequest,
  TokensGranted,
} from './token-messages.js';

/** How long an account's home shard may take before this owner meters alone. */
const HOME_PATIENCE_MILLIS = 50;
/** How long use may stay unreported, if no request to the home shard carries it earlier. */
const REPORT_EVERY_MILLIS = 100;

export interface TokenExchangeOptions<Bucket extends string> {
  readonly clock: Clock;
  /** This owner, as the home shards that lease it tokens know it. */
  readonly holder: LeaseHolder;
  /** The other owners by shard. */
  readonly peers: ReadonlyMap<number, Pick<TokenPeer<Bucket>, 'takeTokens' | 'connection'>>;
  readonly homeOf: (account: string) => number;
  /** For the accounts with this home shard. */
  readonly home: Pick<TokenHome<Bucket>, 'take'>;
  /**
   * For all other accounts while their home shard does not answer. These buckets fill slower, so that all shards together give no
   * more than one.
   */
  readonly alone: AccountBuckets<Bucket>;
  readonly tracing?: Tracing | undefined;
}

interface Waiting<Bucket extends string> {
  readonly request: TokenRequest<Bucket>;
  readonly answer: (granted: boolean) => void;
}

/** The content of one message to one home shard. */
interface Batch<Bucket extends string> {
  readonly waiting: Waiting<Bucket>[];
  readonly wishes: LeaseWish<Bucket>[];
}

/** Takes tokens from an account's home shard, for many accounts in one message, or from a lease. */
export class TokenExchange<Bucket extends string> {
  private readonly batches = new Map<number, Batch<Bucket>>();
  private readonly leases: HeldLeases<Bucket>;
  private readonly tracing: Tracing;
  private isWatching = false;
  /** Messages about leases belong to no caller, and so to no trace. */
  private readonly untraced = AsyncLocalStorage.snapshot();

  constructor(private readonly options: TokenExchangeOptions<Bucket>) {
    this.tracing = options.tracing ?? noTracing;
    this.leases = new HeldLeases(options.clock);
  }

  take(account: string, bucket: Bucket): boolean | Promise<boolean> {
    const home = this.options.homeOf(account);
    if (home === this.options.holder.shard) return this.options.home.take(account, bucket);
    if (this.takeLeased(home, account, bucket)) return true;
    const span = this.tracing.child('tokens', 'internal');
    if (span === undefined) return this.askWithOthers(home, { account, bucket });
    return this.traced(span, home, { account, bucket });
  }

  /** Answers a home shard that needs the final use of leases. */
  recall({ epoch, leases }: RecallLeases): LeasesRecalled {
    const isOurs = epoch === this.options.holder.epoch;
    return { used: isOurs ? this.leases.recall(leases) : leases.map(() => null) };
  }

  private takeLeased(home: number, account: string, bucket: Bucket): boolean {
    const connection = this.options.peers.get(home)?.connection;
    if (connection === undefined || !this.isLeased(bucket)) return false;
    const taken = this.leases.take({ shard: home, connection }, account, bucket);
    if (taken === 'FEW_LEFT') {
      const wish = this.leases.wish({ shard: home, connection }, account, bucket);
      if (wish !== undefined) this.untraced(() => this.batchFor(home).wishes.push(wish));
    }
    return taken !== 'NONE';
  }

  private traced(span: Span, home: number, request: TokenRequest<Bucket>): Promise<boolean> {
    return inSpan(span, () => this.tracing.within(span, () => this.askWithOthers(home, request)));
  }

  /** The message to the home shard is traced as a part of the first request in it. */
  private askWithOthers(home: number, request: TokenRequest<Bucket>): Promise<boolean> {
    return new Promise((answer) => {
      const { waiting, wishes } = this.batchFor(home);
      waiting.push({ request, answer });
      const { account, bucket } = request;
      const connection = this.options.peers.get(home)?.connection;
      if (connection === undefined || !this.isLeased(bucket)) return;
      const wish = this.leases.wish({ shard: home, connection }, account, bucket);
      if (wish !== undefined) wishes.push(wish);
    });
  }

  private isLeased(bucket: Bucket): boolean {
    return this.options.alone.rules.leased.includes(bucket);
  }

  private batchFor(home: number): Batch<Bucket> {
    const begun = this.batches.get(home);
    if (begun !== undefined) return begun;
    const batch: Batch<Bucket> = { waiting: [], wishes: [] };
    this.batches.set(home, batch);
    setImmediate(() => {
      void this.ask(home);
    });
    return batch;
  }

  private async ask(home: number): Promise<void> {
    const { waiting = [], wishes = [] } = this.batches.get(home) ?? {};
    this.batches.delete(home);
    this.watchLeases();
    const answer = await this.answerOf(
      home,
      waiting.map(({ request }) => request),
      wishes,
    );
    for (const [index, { request, answer: settle }] of waiting.entries()) {
      settle(answer?.granted[index] ?? this.options.alone.take(request.account, request.bucket));
    }
  }

  /** Reports the use of leases in the same message. */
  private async answerOf(
    home: number,
    requests: readonly TokenRequest<Bucket>[],
    wishes: readonly LeaseWish<Bucket>[],
  ): Promise<TokensGranted | undefined> {
    const reports = this.leases.reportsFor(home);
    const answer = await this.granted(home, { requests, wishes, reports });
    if (answer !== undefined) this.leases.acknowledged(home, reports);
    for (const [index, { lease }] of wishes.entries()) {
      if (answer === undefined) this.leases.unanswered(lease);
      else this.leases.arrived(lease, answer.leased[index] ?? 0);
    }
    return answer;
  }

  private async granted(
    home: number,
    asked: Omit<TakeTokens<Bucket>, 'holder'>,
  ): Promise<TokensGranted | undefined> {
    const { holder, peers } = this.options;
    try {
      return await peers.get(home)?.takeTokens({ ...asked, holder }, HOME_PATIENCE_MILLIS);
    } catch {
      return undefined;
    }
  }

  /** Runs only while there are leases. */
  private watchLeases(): void {
    if (this.isWatching || this.leases.size === 0) return;
    this.isWatching = true;
    this.untraced(() =>
      this.options.clock.after(REPORT_EVERY_MILLIS, () => {
        this.isWatching = false;
        this.leases.expire((home) => this.options.peers.get(home)?.connection);
        for (const home of this.leases.homesToReportTo) void this.answerOf(home, [], []);
        this.watchLeases();
      }),
    );
  }
}

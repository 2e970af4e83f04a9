import { AsyncLocalStorage } from 'node:async_hooks';
import type { OwnerLink } from '#libs/auction/protocol/protocol.js';
import { reply, type LinkReply } from '#libs/link/link-protocol.js';
import type {
  BucketName,
  LeaseHolder,
  LeasesCalledIn,
  LeaseReport,
  LeaseWish,
  OwnerRequest,
  TokenRequest,
  TokensGranted,
} from '#libs/auction/protocol/protocol.js';
import { homeShard } from '#libs/auction/protocol/routing.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { inSpan, noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import type { AccountBuckets } from './buckets.js';
import { HeldLeases } from './leases/held-leases.js';
import { isLeased } from './leases/leased-bucket.js';
import type { TokenHome } from './token-home.js';

/** How long an account's home shard may take before this owner meters alone. */
const HOME_PATIENCE_MILLIS = 50;
/** How old what was used may become before its home hears of it, unless it is asked for something before. */
const REPORT_EVERY_MILLIS = 100;

export interface TokenExchangeOptions {
  readonly clock: Clock;
  /** This owner, for the homes that it has leases of. */
  readonly holder: LeaseHolder;
  /** The other owners by shard. */
  readonly peers: ReadonlyMap<number, Pick<OwnerLink, 'request' | 'connection'>>;
  /** Of the accounts whose home is here. */
  readonly home: Pick<TokenHome, 'take'>;
  /** For everyone else while their home does not answer: at a third of the rate, so that three shards give no more than one. */
  readonly alone: AccountBuckets;
  readonly tracing?: Tracing | undefined;
}

interface Waiting {
  readonly request: TokenRequest;
  readonly answer: (granted: boolean) => void;
}

/** What goes to one home in one message. */
interface Batch {
  readonly waiting: Waiting[];
  readonly wishes: LeaseWish[];
}

/** Takes tokens where an account's buckets live, many accounts in one message, or from what was leased there before. */
export class TokenExchange {
  private readonly batches = new Map<number, Batch>();
  private readonly leases: HeldLeases;
  private readonly tracing: Tracing;
  private isWatching = false;
  /** What leases ask and tell belongs to no caller, and so to nobody's trace. */
  private readonly forNobody = AsyncLocalStorage.snapshot();

  constructor(private readonly options: TokenExchangeOptions) {
    this.tracing = options.tracing ?? noTracing;
    this.leases = new HeldLeases(options.clock);
  }

  take(account: string, bucket: BucketName): boolean | Promise<boolean> {
    const home = homeShard(account);
    if (home === this.options.holder.shard) return this.options.home.take(account, bucket);
    if (this.takeLeased(home, account, bucket)) return true;
    const span = this.tracing.child('tokens', 'internal');
    if (span === undefined) return this.askWithOthers(home, { account, bucket });
    return this.traced(span, home, { account, bucket });
  }

  /** A home wants to know for good what was used. */
  callIn({ life, leases }: Extract<OwnerRequest, { op: 'call_in' }>): LinkReply {
    const isThisLife = life === this.options.holder.life;
    const used = isThisLife ? this.leases.callIn(leases) : leases.map(() => null);
    return reply(200, { used } satisfies LeasesCalledIn);
  }

  private takeLeased(home: number, account: string, bucket: BucketName): boolean {
    const connection = this.options.peers.get(home)?.connection;
    if (connection === undefined || !isLeased(bucket)) return false;
    const taken = this.leases.take({ shard: home, connection }, account, bucket);
    if (taken === 'FEW_LEFT') {
      const wish = this.leases.wish({ shard: home, connection }, account, bucket);
      if (wish !== undefined) this.forNobody(() => this.batchFor(home).wishes.push(wish));
    }
    return taken !== 'NONE';
  }

  private traced(span: Span, home: number, request: TokenRequest): Promise<boolean> {
    return inSpan(span, () => this.tracing.within(span, () => this.askWithOthers(home, request)));
  }

  /** What goes to the home shard is traced as a part of the first of those who ask with it. */
  private askWithOthers(home: number, request: TokenRequest): Promise<boolean> {
    return new Promise((answer) => {
      const { waiting, wishes } = this.batchFor(home);
      waiting.push({ request, answer });
      const { account, bucket } = request;
      const connection = this.options.peers.get(home)?.connection;
      if (connection === undefined || !isLeased(bucket)) return;
      const wish = this.leases.wish({ shard: home, connection }, account, bucket);
      if (wish !== undefined) wishes.push(wish);
    });
  }

  private batchFor(home: number): Batch {
    const begun = this.batches.get(home);
    if (begun !== undefined) return begun;
    const batch = { waiting: [], wishes: [] };
    this.batches.set(home, batch);
    setImmediate(() => {
      void this.ask(home);
    });
    return batch;
  }

  private async ask(home: number): Promise<void> {
    const { waiting, wishes } = this.batches.get(home) ?? { waiting: [], wishes: [] };
    this.batches.delete(home);
    this.watchLeases();
    const answer = await this.answerOf(
      home,
      waiting.map(({ request }) => request),
      wishes,
    );
    for (const [index, { request, answer: tell }] of waiting.entries()) {
      tell(answer?.granted[index] ?? this.options.alone.take(request.account, request.bucket));
    }
  }

  /** Asks, and tells with it what was used. */
  private async answerOf(
    home: number,
    requests: readonly TokenRequest[],
    wishes: readonly LeaseWish[],
  ): Promise<TokensGranted | undefined> {
    const reports = this.leases.reportsFor(home);
    const answer = await this.granted(home, { requests, wishes, reports });
    if (answer !== undefined) this.leases.told(home, reports);
    for (const [index, { lease }] of wishes.entries()) {
      if (answer === undefined) this.leases.unanswered(lease);
      else this.leases.arrived(lease, answer.leased[index] ?? 0);
    }
    return answer;
  }

  private async granted(
    home: number,
    asked: {
      readonly requests: readonly TokenRequest[];
      readonly wishes: readonly LeaseWish[];
      readonly reports: readonly LeaseReport[];
    },
  ): Promise<TokensGranted | undefined> {
    const link = this.options.peers.get(home);
    if (link === undefined) return undefined;
    try {
      const { holder } = this.options;
      const answer = await link.request({ op: 'take_tokens', ...asked, holder }, HOME_PATIENCE_MILLIS);
      return answer.status === 200 ? (JSON.parse(answer.body) as TokensGranted) : undefined;
    } catch {
      return undefined;
    }
  }

  /** As long as there are leases, and no longer. */
  private watchLeases(): void {
    if (this.isWatching || this.leases.size === 0) return;
    this.isWatching = true;
    this.forNobody(() =>
      this.options.clock.after(REPORT_EVERY_MILLIS, () => {
        this.isWatching = false;
        this.leases.tidy((home) => this.options.peers.get(home)?.connection);
        for (const home of this.leases.homesToTell) void this.answerOf(home, [], []);
        this.watchLeases();
      }),
    );
  }
}

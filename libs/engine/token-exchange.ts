import type { OwnerLink } from '#libs/owner-link/client.js';
import type { BucketName, TokenRequest } from '#libs/owner-link/protocol.js';
import { homeShard } from '#libs/owner-link/routing.js';
import { noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import type { AccountBuckets } from './buckets.js';

/** How long an account's home shard may take before this owner meters alone. */
const HOME_PATIENCE_MILLIS = 50;

export interface TokenExchangeOptions {
  readonly shard: number;
  /** The other owners by shard. */
  readonly peers: ReadonlyMap<number, OwnerLink>;
  /** Of the accounts whose home is here. */
  readonly home: AccountBuckets;
  /** For everyone else while their home does not answer: at a third of the rate, so that three shards give no more than one. */
  readonly alone: AccountBuckets;
  readonly tracing?: Tracing | undefined;
}

interface Waiting {
  readonly request: TokenRequest;
  readonly answer: (granted: boolean) => void;
}

/** Takes tokens where an account's buckets live, many accounts in one message. */
export class TokenExchange {
  private readonly waiting = new Map<number, Waiting[]>();

  private readonly tracing: Tracing;

  constructor(private readonly options: TokenExchangeOptions) {
    this.tracing = options.tracing ?? noTracing;
  }

  take(account: string, bucket: BucketName): boolean | Promise<boolean> {
    const home = homeShard(account);
    if (home === this.options.shard) return this.options.home.take(account, bucket);
    const span = this.tracing.child('tokens', 'internal');
    if (span === undefined) return this.askWithOthers(home, { account, bucket });
    return this.traced(span, home, { account, bucket });
  }

  private async traced(span: Span, home: number, request: TokenRequest): Promise<boolean> {
    const granted = await this.tracing.within(span, () => this.askWithOthers(home, request));
    span.end();
    return granted;
  }

  /** What goes to the home shard is traced as a part of the first of those who ask with it. */
  private askWithOthers(home: number, request: TokenRequest): Promise<boolean> {
    return new Promise((answer) => {
      const waiting = this.waiting.get(home);
      if (waiting !== undefined) {
        waiting.push({ request, answer });
        return;
      }
      this.waiting.set(home, [{ request, answer }]);
      setImmediate(() => {
        void this.ask(home);
      });
    });
  }

  /** What another owner asks of the accounts at home here. */
  grant(requests: readonly TokenRequest[]): boolean[] {
    return requests.map(({ account, bucket }) => this.options.home.take(account, bucket));
  }

  private async ask(home: number): Promise<void> {
    const batch = this.waiting.get(home) ?? [];
    this.waiting.delete(home);
    const granted = await this.granted(home, batch);
    for (const [index, { request, answer }] of batch.entries()) {
      answer(granted?.[index] ?? this.options.alone.take(request.account, request.bucket));
    }
  }

  private async granted(home: number, batch: readonly Waiting[]): Promise<boolean[] | undefined> {
    const link = this.options.peers.get(home);
    if (link === undefined) return undefined;
    try {
      const requests = batch.map(({ request }) => request);
      const reply = await link.request({ op: 'take_tokens', requests }, HOME_PATIENCE_MILLIS);
      return reply.status === 200 ? (JSON.parse(reply.body) as { granted: boolean[] }).granted : undefined;
    } catch {
      return undefined;
    }
  }
}

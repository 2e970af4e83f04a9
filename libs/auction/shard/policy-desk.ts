import type { PolicyWatch } from '../admission/policy/policy-watch.js';
import { resolveAudience } from '../admission/policy/audience.js';
import { judgeCreate, judgeQuote } from '../admission/policy/judge.js';
import { contractsFor } from '../admission/policy/policy-snapshot.js';
import type { CreateBody, CreateFacts } from '../rules/commands.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Rejection } from '#libs/base/rejection.js';
import type { Terms } from '../rules/terms.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { AwardCount } from './award-count.js';
import type { IdFactory } from './ids.js';

const ORIGINATOR_ALIAS = 'ORG';
const MAKER_ALIAS = 'MM';
const LOOK_PATIENCE_MILLIS = 1_000;

/** The economic policy as the rules ask for it: facts and refusals, or a refusal where the evidence is too old to judge by. */
export class PolicyDesk {
  constructor(
    private readonly watch: PolicyWatch,
    private readonly ids: IdFactory,
    private readonly clock: Clock,
    private readonly count: Pick<AwardCount, 'isInDoubt'>,
  ) {}

  /**
   * Whether there is a policy to judge by. That our own copy is old, as after a standstill of this process, is nothing that a
   * caller may be refused for durably.
   */
  get isKnown(): boolean {
    return this.watch.current().ok;
  }

  /** Whether it also says of this maker if its protection keeps it away. */
  isKnownFor(maker: string): boolean {
    return this.isKnown && !this.count.isInDoubt(maker);
  }

  /** An originator changes its groups itself, and what it has just been told of them must hold for its next auction. */
  async freshenForCreate({ audience }: CreateBody): Promise<void> {
    if (!this.isKnown || (audience.group_ids?.length ?? 0) > 0) await this.look();
  }

  /** A maker ends its own freeze, and counts on it at once. */
  async freshenForQuote(maker: string): Promise<void> {
    const current = this.watch.current();
    if (!current.ok || current.snapshot.frozen.has(maker)) await this.look();
  }

  createFacts(account: string, body: CreateBody, auctionId: string, now: Instant): CreateFacts | Rejection {
    const current = this.watch.current();
    if (!current.ok) return current;
    const { snapshot } = current;
    const aliasOf = (maker: string): string => this.ids.alias(auctionId, maker, MAKER_ALIAS);
    return {
      auction_id: auctionId,
      originator: {
        account_id: account,
        display_name: snapshot.principals.get(account)?.display_name ?? '',
        alias: this.ids.alias(auctionId, account, ORIGINATOR_ALIAS),
      },
      now,
      contracts: contractsFor(snapshot, body.routes),
      audience: resolveAudience(snapshot, account, body.audience, body.routes, aliasOf),
      policy: judgeCreate(snapshot, account, body.routes, body.quantity_atoms),
    };
  }

  judgeQuote(maker: string, terms: Terms, quantity: Atoms, now: Instant): Rejection | undefined {
    const current = this.watch.current();
    return current.ok ? judgeQuote(current.snapshot, maker, terms.routes, quantity, now) : current;
  }

  /** A database that does not answer is not waited for as long as a caller would wait. */
  private async look(): Promise<void> {
    await Promise.race([this.watch.freshen(), pause(this.clock, LOOK_PATIENCE_MILLIS)]);
  }
}

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
const REFRESH_PATIENCE_MILLIS = 1_000;

/** The policy in the form that the rules need: facts and refusals. It refuses where the copy is too old to judge by. */
export class PolicyDesk {
  constructor(
    private readonly watch: PolicyWatch,
    private readonly ids: IdFactory,
    private readonly clock: Clock,
    private readonly count: Pick<AwardCount, 'isInDoubt'>,
  ) {}

  /**
   * Whether the copy of the policy is recent enough to judge by. An old copy, such as after a standstill of this process, must
   * never lead to a durable refusal.
   */
  get isKnown(): boolean {
    return this.watch.current().ok;
  }

  /** Whether it is also known if this maker is frozen by its protection. */
  isKnownFor(maker: string): boolean {
    return this.isKnown && !this.count.isInDoubt(maker);
  }

  /** An originator edits its own groups. A change that was acknowledged must hold for its next auction. */
  async freshenForCreate({ audience }: CreateBody): Promise<void> {
    if (!this.isKnown || (audience.group_ids?.length ?? 0) > 0) await this.refresh();
  }

  /** A maker can end its own freeze, and expects to quote at once. */
  async freshenForQuote(maker: string): Promise<void> {
    const current = this.watch.current();
    if (!current.ok || current.snapshot.frozen.has(maker)) await this.refresh();
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

  /** If the database does not answer, this waits less long than a caller would. */
  private async refresh(): Promise<void> {
    await Promise.race([this.watch.freshen(), pause(this.clock, REFRESH_PATIENCE_MILLIS)]);
  }
}

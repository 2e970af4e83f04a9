import { hash } from 'node:crypto';
import type { PolicyWatch } from '#libs/auction/admission/policy/policy-watch.js';
import type { CommandMark, Operation } from '#libs/auction/rules/events.js';
import type { Need } from '#libs/auction/rules/holds.js';
import type { Instant } from '#libs/base/instant.js';
import { planCreate } from '#libs/auction/rules/decide/plan-create.js';
import { planSubmit, type QuoteDraft } from '#libs/auction/rules/decide/plan-submit.js';
import type { Rejection } from '#libs/base/rejection.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import type { Terms } from '#libs/auction/rules/terms.js';
import type { IdFactory } from '#libs/auction/shard/ids.js';
import type { PolicyDesk } from '#libs/auction/shard/policy-desk.js';
import { shardOfCreate } from '#libs/auction/protocol/routing.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import type { SeedAccounts } from './cast.js';

export interface PlannedOpening {
  readonly number: number;
  readonly auctionId: string;
  readonly account: string;
  readonly command: CommandMark;
  readonly terms: Terms;
  readonly need: Need;
}

export interface PlannedQuote {
  readonly account: string;
  readonly command: CommandMark;
  readonly quote: QuoteDraft;
  readonly need: Need;
}

const CONTENT_LENGTH = 22;
const ATTEMPTS = 10;

/** Applies rules and policy like an owner. A refusal ends the seed. */
export class Planner {
  constructor(
    readonly cast: SeedAccounts,
    private readonly ids: IdFactory,
    private readonly policy: PolicyDesk,
    private readonly watch: PolicyWatch,
    /** Keeps the idempotency keys of this seed apart from those of other seeds. */
    private readonly name: string,
  ) {}

  shardOf(number: number): number {
    return shardOfCreate(this.cast.originator(number), this.keyOf(number));
  }

  awardId(quoteId: string): string {
    return this.ids.award(quoteId);
  }

  /** The policy must be at most a few seconds old, so this is called from time to time. */
  refresh(): Promise<void> {
    return this.watch.freshen();
  }

  async opening(number: number, at: Instant, durationMs: number): Promise<PlannedOpening> {
    const account = this.cast.originator(number);
    const key = this.keyOf(number);
    const auctionId = this.ids.auction(account, key);
    const body = this.cast.create(number, durationMs);
    const { terms, need } = await this.plannedByPolicy(() => {
      const facts = this.policy.createFacts(account, body, auctionId, at);
      return 'error' in facts ? facts : planCreate(body, facts);
    });
    return { number, auctionId, account, command: markOf('CREATE', account, key, body), terms, need };
  }

  /** Quotes of the first `count` invited makers, one each. */
  quotes(
    number: number,
    state: AuctionState,
    count: number,
    counts: boolean,
    at: Instant,
  ): Promise<PlannedQuote[]> {
    const { terms } = state;
    const makers = terms.audience.slice(0, count);
    return Promise.all(
      makers.map(async ({ account_id: maker }, place) => {
        const body = this.cast.quote(number, place, counts);
        const key = this.keyOf(number);
        const quoteId = this.ids.quote(terms.auction_id, maker, key);
        const plan = await this.plannedByPolicy(() => {
          const policy = this.policy.judgeQuote(maker, terms, body.quantity_atoms, at);
          return planSubmit(state, body, { maker, now: at, policy, quote_id: quoteId });
        });
        const command = markOf('SUBMIT', maker, key, body);
        return { account: maker, command, quote: plan.quote, need: plan.need };
      }),
    );
  }

  /** After a pause of the process the policy may be too old, so it is refreshed and applied again. */
  private async plannedByPolicy<Plan extends { readonly ok: true }>(
    judge: () => Plan | Rejection,
  ): Promise<Plan> {
    for (let attempt = 1; ; attempt += 1) {
      const plan = judge();
      if (plan.ok) return plan;
      if (plan.error !== 'AUTHORITY_EVIDENCE_STALE' || attempt === ATTEMPTS) throw refused(plan);
      await this.refresh();
    }
  }

  private keyOf(number: number): string {
    return `${this.name}-${number}`;
  }
}

function markOf(operation: Operation, account: string, key: string, body: object): CommandMark {
  const content = hash('sha256', JSON.stringify(body), 'base64url').slice(0, CONTENT_LENGTH);
  return { account_id: account, operation, key, content };
}

export function refused({
  error,
  message,
}: {
  readonly error: string;
  readonly message: string;
}): StartFault {
  return new StartFault(`the rules refuse the seed: ${error} (${message})`);
}

import { holdFor } from '../../rules/holds.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Hold } from '../../rules/terms.js';
import type { ReserveRequest } from '../reservation-desk.js';
import { HoldDraft, type HeldAmounts } from './hold-book.js';
import type { AccountKeyCache } from './key-ring.js';
import {
  byName,
  isSameResource,
  resourcesOf,
  tokensOn,
  type AccountKey,
  type ResourceKey,
} from './resource-key.js';
import type { TokenSight, TokenSights } from './token-sights.js';

/**
 * GROWS: the hold grows, so it must fit. STANDS: it does not grow, but evidence must still be valid. SHRINKS:
 * something was released; evidence does not matter. LACKING: there must be no tokens.
 */
export type ClaimKind = 'GROWS' | 'STANDS' | 'SHRINKS' | 'LACKING';

export interface ClaimLine {
  readonly key: AccountKey;
  readonly kind: ClaimKind;
  /** The amount of this shard's column after the write. */
  readonly total: Atoms;
  /** The cached balance that the hold was calculated from. It must still be right. */
  readonly sight?: TokenSight | undefined;
}

export interface ClaimOfEpoch {
  readonly epoch: number;
  readonly lines: readonly ClaimLine[];
  /** The time at which the evidence must still be valid. */
  readonly at: Instant;
  /** Accounts that get nothing while they are frozen. */
  readonly quoting: readonly string[];
}

/** A request with the hold that it gets if all its lines are granted. */
interface Planned {
  readonly request: ReserveRequest;
  readonly hold: readonly Hold[];
  readonly keys: readonly AccountKey[];
}

export interface Granted {
  /** In the order of the requests. Undefined where the claim cannot decide the request. */
  readonly holds: readonly (readonly Hold[] | undefined)[];
  /** What the granted holds add. */
  readonly draft: HoldDraft;
}

/** What is known without reading the database. */
export interface DeskMemory {
  readonly book: HeldAmounts;
  readonly sights: TokenSights;
  readonly ring: AccountKeyCache;
}

/**
 * What a batch would write if its accounts can carry it, calculated from memory. The database makes the same
 * comparisons while it writes and returns the granted lines, so nearly no batch has to read first.
 */
export class ReservationBatch {
  /** Sorted, so that transactions of all shards lock rows in the same order. */
  readonly lines: readonly ClaimLine[];
  private readonly planned: readonly (Planned | undefined)[];
  private readonly draft: HoldDraft;
  private readonly wanted = new Map<
    string,
    { readonly key: AccountKey; readonly sight: TokenSight | undefined }
  >();

  constructor(
    requests: readonly ReserveRequest[],
    released: readonly AccountKey[],
    private readonly memory: DeskMemory,
  ) {
    this.draft = new HoldDraft(memory.book, memory.ring);
    const undecided = new Set<string>();
    this.planned = requests.map((request) => {
      // A later request of the same account depends on the result of the earlier one.
      const planned = undecided.has(request.account) ? undefined : this.plan(request);
      if (planned === undefined) undecided.add(request.account);
      return planned;
    });
    this.lines = this.linesWith(released);
  }

  /** Accounts that are about to quote. */
  get quoting(): string[] {
    const makers = this.planned.flatMap((planned) =>
      planned?.request.forQuote === true ? [planned.request.account] : [],
    );
    return [...new Set(makers)];
  }

  /** The holds that depend on granted lines only. */
  granted(found: readonly ClaimLine[]): Granted {
    if (found.length === this.lines.length)
      return { holds: this.planned.map((planned) => planned?.hold), draft: this.draft };
    const names = new Set(found.map(({ key }) => key.name));
    const draft = new HoldDraft(this.memory.book, this.memory.ring);
    const refused = new Set<string>();
    const holds = this.planned.map((planned) => {
      if (planned === undefined) return undefined;
      const { request, hold, keys } = planned;
      if (refused.has(request.account) || !keys.every(({ name }) => names.has(name))) {
        refused.add(request.account);
        return undefined;
      }
      draft.raise(request.account, request.current, hold);
      return hold;
    });
    return { holds, draft };
  }

  private linesWith(released: readonly AccountKey[]): ClaimLine[] {
    const { draft, wanted } = this;
    const { book } = this.memory;
    const shrunk = new Map(released.map((key) => [key.name, key]));
    const lines: ClaimLine[] = [];
    for (const { key, sight } of wanted.values()) {
      const more = draft.additionTo(key);
      // A key that is both released and requested must be written and checked.
      const isWritten = shrunk.delete(key.name) || more !== undefined;
      const kind = isWritten ? 'GROWS' : isNone(sight) ? 'LACKING' : 'STANDS';
      lines.push({ key, kind, total: book.amountOf(key) + (more ?? 0), sight });
    }
    for (const key of shrunk.values()) lines.push({ key, kind: 'SHRINKS', total: draft.total(key) });
    return lines.sort((one, other) => byName(one.key, other.key));
  }

  /** Leaves a request undecided if the balance of its tokens is not cached. */
  private plan(request: ReserveRequest): Planned | undefined {
    const { account, need, current } = request;
    const { ring, sights } = this.memory;
    const resources = resourcesOf(need).map((resource) => {
      const key = ring.of(account, resource);
      return { key, sight: resource.resource === 'OUTCOME_TOKEN' ? sights.of(key) : undefined };
    });
    if (resources.some(({ key, sight }) => key.resource === 'OUTCOME_TOKEN' && sight === undefined))
      return undefined;
    const hold = holdFor(need, (route) => this.freeOf(request, tokensOn(route)));
    this.draft.raise(account, current, hold);
    for (const one of resources) this.wanted.set(one.key.name, one);
    return { request, hold, keys: resources.map(({ key }) => key) };
  }

  /** The same amount that a decision after reading would find: see `capacityOf`. */
  private freeOf({ account, current }: ReserveRequest, tokens: ResourceKey): Atoms {
    const key = this.memory.ring.of(account, tokens);
    const { amount = 0, others = 0 } = this.memory.sights.of(key) ?? {};
    const own = current.reduce((sum, hold) => (isSameResource(hold, key) ? sum + hold.amount : sum), 0);
    return Math.max(0, amount - others - this.draft.total(key)) + own;
  }
}

function isNone(sight: TokenSight | undefined): boolean {
  return sight !== undefined && sight.amount === undefined;
}

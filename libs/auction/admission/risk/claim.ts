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
 * - `GROWS`: more than before is set aside, so it must fit.
 * - `STANDS`: nothing more is, but the evidence must still vouch for it.
 * - `SHRINKS`: something was released, whatever the evidence says.
 * - `LACKING`: tokens, of which there must be none.
 */
export type ClaimKind = 'GROWS' | 'STANDS' | 'SHRINKS' | 'LACKING';

export interface ClaimLine {
  readonly key: AccountKey;
  readonly kind: ClaimKind;
  /** What the column of this shard says afterwards. */
  readonly total: Atoms;
  /** What the hold was worked out from, and what must still be so. */
  readonly sight?: TokenSight | undefined;
}

export interface ClaimOfEpoch {
  readonly epoch: number;
  readonly lines: readonly ClaimLine[];
  /** When the evidence must still be good. */
  readonly at: Instant;
  /** Accounts that get nothing while they are frozen. */
  readonly quoting: readonly string[];
}

/** A request with the hold that it gets if all its lines are found to be true. */
interface Planned {
  readonly request: ReserveRequest;
  readonly hold: readonly Hold[];
  readonly keys: readonly AccountKey[];
}

export interface Granted {
  /** In the order of the requests, with nothing in the place of those that somebody else has to decide. */
  readonly holds: readonly (readonly Hold[] | undefined)[];
  /** The additions that these make. */
  readonly draft: HoldDraft;
}

/** What a desk knows without asking anybody. */
export interface DeskMemory {
  readonly book: HeldAmounts;
  readonly sights: TokenSights;
  readonly ring: AccountKeyCache;
}

/**
 * What a batch would write if its accounts can carry it, worked out from memory alone. The database judges each line by the same
 * comparisons while it writes, and tells which are true; so nobody has to read first what will nearly always be found good.
 */
export class ReservationBatch {
  /** Sorted, so that transactions of different shards meet on rows in the same order. */
  readonly lines: readonly ClaimLine[];
  private readonly planned: readonly (Planned | undefined)[];
  private readonly draft: HoldDraft;
  private readonly asked = new Map<
    string,
    { readonly key: AccountKey; readonly sight: TokenSight | undefined }
  >();

  constructor(
    requests: readonly ReserveRequest[],
    released: readonly AccountKey[],
    private readonly memory: DeskMemory,
  ) {
    this.draft = new HoldDraft(memory.book, memory.ring);
    const left = new Set<string>();
    this.planned = requests.map((request) => {
      // Of one account the later ones would find what the earlier one has left.
      const planned = left.has(request.account) ? undefined : this.plan(request);
      if (planned === undefined) left.add(request.account);
      return planned;
    });
    this.lines = this.linesWith(released);
  }

  /** Accounts for which a quote is to stand. */
  get quoting(): string[] {
    const makers = this.planned.flatMap((planned) =>
      planned?.request.forQuote === true ? [planned.request.account] : [],
    );
    return [...new Set(makers)];
  }

  /** What rests on lines alone that were found true. */
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
    const { draft, asked } = this;
    const { book } = this.memory;
    const shrunk = new Map(released.map((key) => [key.name, key]));
    const lines: ClaimLine[] = [];
    for (const { key, sight } of asked.values()) {
      const more = draft.additionTo(key);
      // What is released and asked for at once has to be both written and judged.
      const isWritten = shrunk.delete(key.name) || more !== undefined;
      const kind = isWritten ? 'GROWS' : isNone(sight) ? 'LACKING' : 'STANDS';
      lines.push({ key, kind, total: book.amountOf(key) + (more ?? 0), sight });
    }
    for (const key of shrunk.values()) lines.push({ key, kind: 'SHRINKS', total: draft.total(key) });
    return lines.sort((one, other) => byName(one.key, other.key));
  }

  /** A request whose tokens nobody has looked at yet is left to whoever reads first. */
  private plan(request: ReserveRequest): Planned | undefined {
    const { account, need, current } = request;
    const { ring, sights } = this.memory;
    const asked = resourcesOf(need).map((resource) => {
      const key = ring.of(account, resource);
      return { key, sight: resource.resource === 'OUTCOME_TOKEN' ? sights.of(key) : undefined };
    });
    if (asked.some(({ key, sight }) => key.resource === 'OUTCOME_TOKEN' && sight === undefined))
      return undefined;
    const hold = holdFor(need, (route) => this.freeOf(request, tokensOn(route)));
    this.draft.raise(account, current, hold);
    for (const one of asked) this.asked.set(one.key.name, one);
    return { request, hold, keys: asked.map(({ key }) => key) };
  }

  /** As the one who reads first would find it: see `capacityOf`. */
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

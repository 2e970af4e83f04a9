import { holdFor } from '#libs/auction/holds.js';
import type { Instant } from '#libs/auction/instant.js';
import type { Atoms } from '#libs/auction/money.js';
import type { Hold } from '#libs/auction/terms.js';
import type { ReserveRequest } from '../reservation-desk.js';
import { HoldDraft } from './hold-book.js';
import {
  accountResourceName,
  resourceName,
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
  readonly sight?: TokenSight;
}

export interface ClaimOfEpoch {
  readonly epoch: number;
  readonly lines: readonly ClaimLine[];
  /** When the evidence must still be good. */
  readonly at: Instant;
}

/** A request with the hold that it gets if all its lines are found to be true. */
interface Planned {
  readonly request: ReserveRequest;
  readonly hold: readonly Hold[];
  readonly names: readonly string[];
}

/**
 * What a batch would write if its accounts can carry it, worked out from memory alone. The database judges each line by the same
 * comparisons while it writes, and tells which are true; so nobody has to read first what will nearly always be found good.
 */
export class Claim {
  /** In the order of the requests, with nothing in the place of those that somebody else has to decide. */
  private readonly planned: readonly (Planned | undefined)[];
  private readonly draft: HoldDraft;
  private readonly asked = new Map<
    string,
    { readonly key: AccountKey; readonly sight: TokenSight | undefined }
  >();

  constructor(
    requests: readonly ReserveRequest[],
    private readonly held: ReadonlyMap<string, Atoms>,
    private readonly sights: TokenSights,
  ) {
    this.draft = new HoldDraft(held);
    const left = new Set<string>();
    this.planned = requests.map((request) => {
      // Of one account the later ones would find what the earlier one has left.
      const planned = left.has(request.account) ? undefined : this.plan(request);
      if (planned === undefined) left.add(request.account);
      return planned;
    });
  }

  /** Sorted, so that transactions of different shards meet on rows in the same order. */
  lines(released: readonly AccountKey[]): ClaimLine[] {
    const grown = new Set(this.draft.keys().map((key) => accountResourceName(key.account, key)));
    const byName = new Map<string, ClaimLine>();
    for (const key of released) byName.set(accountResourceName(key.account, key), this.line(key, 'SHRINKS'));
    for (const [name, { key, sight }] of this.asked) {
      // What is released and asked for at once has to be both written and judged.
      const kind = grown.has(name) || byName.has(name) ? 'GROWS' : isNone(sight) ? 'LACKING' : 'STANDS';
      byName.set(name, { ...this.line(key, kind), ...(sight === undefined ? {} : { sight }) });
    }
    return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
  }

  /** The holds of the requests, in their order, that rest on true lines alone; and the additions that these make. */
  granted(isTrue: (name: string) => boolean): {
    readonly holds: readonly (readonly Hold[] | undefined)[];
    readonly draft: HoldDraft;
  } {
    const draft = new HoldDraft(this.held);
    const refused = new Set<string>();
    const holds = this.planned.map((planned) => {
      if (planned === undefined) return undefined;
      const { request, hold, names } = planned;
      if (refused.has(request.account) || !names.every(isTrue)) {
        refused.add(request.account);
        return undefined;
      }
      draft.raise(request.account, request.current, hold);
      return hold;
    });
    return { holds, draft };
  }

  private line(key: AccountKey, kind: ClaimKind): ClaimLine {
    return { key, kind, total: this.draft.total(key.account, key) };
  }

  /** A request whose tokens nobody has looked at yet is left to whoever reads first. */
  private plan(request: ReserveRequest): Planned | undefined {
    const { account, need, current } = request;
    const keys = resourcesOf(need);
    const sights = new Map<string, TokenSight>();
    for (const key of keys) {
      if (key.resource !== 'OUTCOME_TOKEN') continue;
      const sight = this.sights.of(account, key);
      if (sight === undefined) return undefined;
      sights.set(resourceName(key), sight);
    }
    const hold = holdFor(need, (route) => this.freeOf(request, tokensOn(route), sights));
    this.draft.raise(account, current, hold);
    const names = keys.map((key) => accountResourceName(account, key));
    for (const [index, key] of keys.entries()) {
      this.asked.set(names[index] ?? '', { key: { ...key, account }, sight: sights.get(resourceName(key)) });
    }
    return { request, hold, names };
  }

  /** As the one who reads first would find it: see `capacityOf`. */
  private freeOf(
    { account, current }: ReserveRequest,
    key: ResourceKey,
    sights: ReadonlyMap<string, TokenSight>,
  ): Atoms {
    const name = resourceName(key);
    const { amount = 0, others = 0 } = sights.get(name) ?? {};
    const own = current.reduce((sum, hold) => (resourceName(hold) === name ? sum + hold.amount : sum), 0);
    return Math.max(0, amount - others - this.draft.total(account, key)) + own;
  }
}

function isNone(sight: TokenSight | undefined): boolean {
  return sight !== undefined && sight.amount === undefined;
}

import type { Asked, Told } from './asked.js';
import type { Policies, PolicyPage } from './policy-book.js';
import type { RawTerms } from './raw-events.js';
import { must } from './violation.js';

const INVITED = 'whoever was asked for and may be invited is invited, and nobody else';
const FAULTS: ReadonlySet<string> = new Set(['GROUP_UNKNOWN', 'AUDIENCE_MEMBER_UNKNOWN', 'AUDIENCE_EMPTY']);

/** Somebody's create, by its name. */
export interface Inviting {
  readonly name: string;
  readonly originator: string;
  readonly asked: Asked;
}

/** Who was invited to each auction, held against whom its originator asked for and what the policy said at that time. */
export class Invitations {
  /** Kinds of audiences, and how often. */
  readonly met = new Map<string, number>();

  constructor(private readonly policies: Policies) {}

  mustInvite(create: Inviting, { audience }: RawTerms, told: Told): void {
    const { name } = create;
    const invited = audience.map((party) => party.account_id).sort();
    const pages = this.policies.pagesFor(name);
    const found = pages.find(
      (page) => faultsOf(create, page).length === 0 && same(guestsOf(create, page), invited),
    );
    must(
      found !== undefined,
      INVITED,
      () => `${name}: ${invited.join()} instead of ${wanted(create, pages)}`,
    );
    const listed = [...(told.audience?.market_maker_ids ?? [])].sort();
    must(
      same(listed, invited) && told.audience?.invited_count === invited.length,
      INVITED,
      () => `${name}: told of ${listed.join()}, and invited are ${invited.join()}`,
    );
    this.count(create, found, invited);
  }

  mayRefuse(create: Inviting, error: string): void {
    if (!FAULTS.has(error)) return;
    const pages = this.policies.pagesFor(create.name);
    const isFounded = pages.some((page) => faultsOf(create, page).includes(error));
    must(isFounded, INVITED, () => `${create.name}: ${error} instead of ${wanted(create, pages)}`);
  }

  private count(create: Inviting, page: PolicyPage, invited: readonly string[]): void {
    const { market_maker_ids: listed, group_ids: groups = [], ...rest } = create.asked.audience ?? {};
    const kinds: Readonly<Record<string, boolean>> = {
      'by name': listed !== undefined,
      'by group': groups.length > 0,
      'of all': rest.all_eligible === true,
      'but for some': rest.exclude_market_maker_ids !== undefined,
      'without one who is not eligible': candidates(create, page).length > guestsOf(create, page).length,
      'without a former member': groups.some((id) =>
        [...(page.everIn.get(id) ?? [])].some((maker) => !invited.includes(maker)),
      ),
    };
    for (const [kind, isSo] of Object.entries(kinds))
      if (isSo) this.met.set(kind, (this.met.get(kind) ?? 0) + 1);
  }
}

/** What is wrong with what was asked for. */
function faultsOf(create: Inviting, page: PolicyPage): string[] {
  const { group_ids: groups = [], exclude_market_maker_ids: excluded = [] } = create.asked.audience ?? {};
  if (groups.some((id) => page.groups.get(id)?.owner !== create.originator)) return ['GROUP_UNKNOWN'];
  const named = [...namedBy(create, page), ...excluded];
  if (named.some((id) => page.guests.get(id)?.is_maker !== true)) return ['AUDIENCE_MEMBER_UNKNOWN'];
  return guestsOf(create, page).length === 0 ? ['AUDIENCE_EMPTY'] : [];
}

function namedBy({ asked: { audience } }: Inviting, { groups }: PolicyPage): string[] {
  const members = (audience?.group_ids ?? []).flatMap((id) => groups.get(id)?.market_maker_ids ?? []);
  return [...(audience?.market_maker_ids ?? []), ...members];
}

/** Everybody who was asked for and not left out by name. */
function candidates(create: Inviting, page: PolicyPage): string[] {
  const { all_eligible: all, exclude_market_maker_ids: excluded = [] } = create.asked.audience ?? {};
  const makers = [...page.guests].flatMap(([id, { is_maker: isMaker }]) => (isMaker ? [id] : []));
  const named = new Set(all === true ? makers : namedBy(create, page));
  return [...named].filter((id) => !excluded.includes(id)).sort();
}

/** Of these whoever may trade at each venue, is not suspended, and is neither the originator nor of its house. */
function guestsOf(create: Inviting, page: PolicyPage): string[] {
  const house = page.guests.get(create.originator)?.control_group ?? undefined;
  return candidates(create, page).filter((id) => {
    const guest = page.guests.get(id);
    if (guest === undefined || guest.suspended || id === create.originator) return false;
    if (house !== undefined && guest.control_group === house) return false;
    return (create.asked.routes ?? []).every(({ venue }) => guest.venues.includes(venue));
  });
}

function wanted(create: Inviting, pages: readonly PolicyPage[]): string {
  return pages.map((page) => faultsOf(create, page).join() || guestsOf(create, page).join()).join(' or ');
}

function same(some: readonly string[], others: readonly string[]): boolean {
  return some.join() === others.join();
}

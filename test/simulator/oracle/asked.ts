import { isDeepStrictEqual } from 'node:util';
import type { AuctionFile } from './auction-file.js';
import type { RawEvent, RawQuote, RawTerms } from './raw-events.js';
import { must } from './violation.js';

const ASKED = 'what was asked is what stands';
const INVITED = 'only makers that were asked for are invited';

/** A command's content as its caller wrote it: the fields of its body, and the quote named in its path. */
export interface Asked {
  readonly [field: string]: unknown;
  readonly quote_id?: string;
  readonly expected_revision?: number;
  readonly routes?: readonly object[];
  readonly audience?: {
    readonly market_maker_ids?: readonly string[];
    readonly group_ids?: readonly string[];
    readonly all_eligible?: boolean;
    readonly exclude_market_maker_ids?: readonly string[];
  };
  readonly identity_policy?: object;
  readonly auction_ids?: readonly string[];
  readonly venue?: string;
}

/** The part of a successful answer that is compared with the request. */
export interface ToldResult {
  readonly auction_id?: string;
  readonly quote_id?: string;
  readonly cancellation?: object;
}

interface Done {
  readonly operation: string;
  readonly account: string;
  readonly asked: Asked;
  readonly told: ToldResult;
}

type Fields = Readonly<Record<string, unknown>>;

/** The default: each maker sees only its own result. */
const PRIVATE_UNLESS_ASKED = { result_disclosure: 'OWN_RESULT' };
const NOBODY_NAMED = { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' };

/** Compares each named field of a command with the journal and the answer. */
export function mustStand(done: Done, event: RawEvent, file: AuctionFile, name: string): void {
  const { operation, account, asked, told } = done;
  const { data } = event;
  if (operation === 'CREATE') {
    must(file.terms.originator.account_id === account, ASKED, () => `${name}: belongs to another account`);
    mustOpen(asked, file.terms, told, name);
    return;
  }
  if (operation === 'CANCEL') {
    mustSay(data, { reason: asked.reason }, name);
    mustSay(told.cancellation ?? {}, { cancelled_by: 'ORIGINATOR', reason: asked.reason }, name);
    return;
  }
  const id = data.quote?.quote_id ?? asked.quote_id ?? '';
  const quote = file.quotes.get(id);
  must(quote?.maker === account && told.quote_id === id, ASKED, () => `${name}: ${id} is not its quote`);
  const { expected_revision: expected = 0, ...named } = asked;
  if (operation === 'WITHDRAW') {
    mustSay(told, { ...termsOf(quote.versions.at(-1)), status: 'WITHDRAWN' }, name);
    return;
  }
  // Fields that a revision leaves out keep their earlier value.
  const before = operation === 'REVISE' ? termsOf(quote.versions[expected - 1]) : {};
  const wanted = { ...before, ...named, revision: expected + 1 };
  for (const one of [data.quote ?? {}, told]) mustSay(one, wanted, name);
}

function mustOpen(asked: Asked, terms: RawTerms, told: object, name: string): void {
  const { routes = [], audience, identity_policy: identities, ...named } = asked;
  const plain = Object.fromEntries(Object.entries(named).filter(([field]) => field !== 'duration_ms'));
  const wanted = {
    ...PRIVATE_UNLESS_ASKED,
    ...plain,
    identity_policy: { ...NOBODY_NAMED, ...identities },
  };
  for (const one of [terms, told]) mustSay(one, wanted, name);
  mustSay(told, { routes: terms.routes, closes_at: terms.closes_at }, name);
  const plainRoutes = terms.routes.map(({ venue, contract_id, outcome }) => ({
    venue,
    contract_id,
    outcome,
  }));
  mustSay({ routes: plainRoutes }, { routes: routes.map((route) => ({ ...route })) }, name);
  mustInvite(audience, terms, name);
}

/** Membership of groups and eligibility are tested with the policy. */
function mustInvite(audience: Asked['audience'], terms: RawTerms, name: string): void {
  const { market_maker_ids: listed = [], group_ids: groups, all_eligible: all, ...rest } = audience ?? {};
  const isByName = groups === undefined && all !== true;
  for (const { account_id: id } of terms.audience) {
    const isAsked = !isByName || listed.includes(id);
    const isExcluded = rest.exclude_market_maker_ids?.includes(id) === true;
    must(isAsked && !isExcluded, INVITED, () => `${name}: ${id}`);
  }
}

/** Compares each field. A field that is wanted as undefined must be absent. */
function mustSay(found: object, wanted: Fields, name: string): void {
  const fields: Fields = { ...found };
  for (const [field, value] of Object.entries(wanted)) {
    must(
      isDeepStrictEqual(fields[field], value),
      ASKED,
      () => `${name}: ${field} is ${JSON.stringify(fields[field])} instead of ${JSON.stringify(value)}`,
    );
  }
}

function termsOf(quote: RawQuote | undefined): Fields {
  const { price_atoms, quantity_atoms, min_quantity_atoms, expires_at, client_reference } = quote ?? {};
  return { price_atoms, quantity_atoms, min_quantity_atoms, expires_at, client_reference };
}

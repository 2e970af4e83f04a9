import { isDeepStrictEqual } from 'node:util';
import type { AuctionFile } from './auction-file.js';
import type { RawEvent, RawQuote, RawTerms } from './raw-events.js';
import { must } from './violation.js';

const ASKED = 'what was asked is what stands';
const INVITED = 'nobody is invited who was not asked for';

/** A command's content as its caller wrote it: the fields of its body, and the quote that its path names. */
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

/** As much of a success as is held against what was asked. */
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

/** Nobody is shown more than was asked for. */
const PRIVATE_UNLESS_ASKED = { result_disclosure: 'OWN_RESULT' };
const NOBODY_NAMED = { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' };

/** Holds what has come of a command, in the journal and in its answer, against each field that it named. */
export function mustStand(done: Done, event: RawEvent, file: AuctionFile, name: string): void {
  const { operation, account, asked, told } = done;
  const { data } = event;
  if (operation === 'CREATE') {
    must(file.terms.originator.account_id === account, ASKED, () => `${name}: is somebody else's`);
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
  // What a revision does not name is as it was before.
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

/** Who is in a group, or eligible, is for the policy's own tests. */
function mustInvite(audience: Asked['audience'], terms: RawTerms, name: string): void {
  const { market_maker_ids: listed = [], group_ids: groups, all_eligible: all, ...rest } = audience ?? {};
  const isByName = groups === undefined && all !== true;
  for (const { account_id: id } of terms.audience) {
    const isAsked = !isByName || listed.includes(id);
    const isExcluded = rest.exclude_market_maker_ids?.includes(id) === true;
    must(isAsked && !isExcluded, INVITED, () => `${name}: ${id}`);
  }
}

/** Each field as it is wanted; one that is wanted as undefined must not be there. */
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

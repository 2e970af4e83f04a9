import { isDeepStrictEqual } from 'node:util';
import type { AuctionFile, FiledQuote } from './auction-file.js';
import type { RawEvent, RawQuote, RawTerms } from './raw-events.js';
import { must } from './violation.js';

const ASKED = 'what was asked is what stands';

/** A command's content as its caller wrote it: the fields of its body, and the quote that its path names. */
export interface Asked {
  readonly [field: string]: unknown;
  readonly quote_id?: string;
  readonly expected_revision?: number;
  readonly quantity_atoms?: number;
  readonly allocation?: string;
  readonly routes?: readonly { readonly venue: string }[];
  readonly duration_ms?: number;
  readonly audience?: {
    readonly market_maker_ids?: readonly string[];
    readonly group_ids?: readonly string[];
    readonly all_eligible?: boolean;
    readonly exclude_market_maker_ids?: readonly string[];
  };
  readonly identity_policy?: object;
  readonly reason?: string;
  readonly auction_ids?: readonly string[];
  readonly venue?: string;
}

/** As much of a success as is held against what was asked. */
export interface Told {
  readonly audience?: { readonly invited_count: number; readonly market_maker_ids: readonly string[] };
  readonly cancellation?: { readonly cancelled_by?: string; readonly reason?: string };
}

type Fields = Readonly<Record<string, unknown>>;

const UNLESS_ASKED: Fields = {
  limit_price_atoms: undefined,
  allocation: 'SINGLE_WINNER',
  quote_revision_policy: 'FREE',
  result_disclosure: 'OWN_RESULT',
  execution_deadline_ms: 60_000,
  client_reference: undefined,
};
const NOBODY_NAMED = { originator: 'ANONYMOUS', market_makers: 'ANONYMOUS' };
const SPLIT_WINNERS = 8;

/** Holds an auction as it was opened, and as its originator was told of it, against what was asked for. */
export function mustOpen(
  asked: Asked,
  { at, data: { terms } }: RawEvent,
  told: Told,
  what: () => string,
): void {
  must(terms !== undefined, ASKED, what);
  const { routes, duration_ms: duration, identity_policy: identities, ...named } = asked;
  // Who was invited is looked at elsewhere.
  const plain = Object.fromEntries(Object.entries(named).filter(([field]) => field !== 'audience'));
  const isSplit = asked.allocation === 'SPLIT';
  const wanted = {
    ...UNLESS_ASKED,
    max_winners: isSplit ? SPLIT_WINNERS : undefined,
    min_fill_quantity_atoms: isSplit ? terms.grid.quantity_step_atoms : asked.quantity_atoms,
    ...(duration === undefined ? {} : { closes_at: later(at, duration) }),
    ...plain,
    identity_policy: { ...NOBODY_NAMED, ...identities },
  };
  mustSay(told, wanted, what);
  // Of one winner nobody is told how many there may be.
  mustSay(terms, isSplit ? wanted : { ...wanted, max_winners: 1 }, what);
  mustSay({ routes: terms.routes.map(plainRoute) }, { routes: routes?.map((route) => ({ ...route })) }, what);
  mustSay(told, { status: 'OPEN', opened_at: at, routes: terms.routes }, what);
}

export function mustSubmit(
  asked: Asked,
  { at, data: { quote } }: RawEvent,
  told: object,
  { terms }: AuctionFile,
  what: () => string,
): void {
  const wanted = {
    min_quantity_atoms: terms.grid.quantity_step_atoms,
    expires_at: undefined,
    client_reference: undefined,
    ...asked,
    revision: 1,
  };
  for (const one of [quote ?? {}, told]) mustSay(one, wanted, what);
  mustSay(told, { status: 'ACTIVE', submitted_at: at, updated_at: at }, what);
}

/** What a revision does not name is as it was before. */
export function mustRevise(
  asked: Asked,
  { at, data: { quote } }: RawEvent,
  told: object,
  versions: readonly RawQuote[],
  what: () => string,
): void {
  const { expected_revision: expected = 0, ...named } = asked;
  const before = versions[expected - 1];
  must(before !== undefined, ASKED, () => `${what()}: there never was a revision ${expected}`);
  const wanted = { ...termsOf(before), ...named, revision: expected + 1 };
  for (const one of [quote ?? {}, told]) mustSay(one, wanted, what);
  mustSay(told, { status: 'ACTIVE', updated_at: at }, what);
}

export function mustWithdraw(
  asked: Asked,
  { at, data }: RawEvent,
  told: object,
  { versions }: FiledQuote,
  what: () => string,
): void {
  const last = versions.at(-1);
  must(last !== undefined, ASKED, what);
  mustSay(data, { quote_id: asked.quote_id, by: 'MARKET_MAKER' }, what);
  const revision = asked.expected_revision ?? last.revision;
  mustSay(last, { quote_id: asked.quote_id, revision }, what);
  const end = { status: 'WITHDRAWN', withdrawn_by: 'MARKET_MAKER', updated_at: at };
  mustSay(told, { ...termsOf(last), quote_id: asked.quote_id, revision, ...end }, what);
}

export function mustCancel(asked: Asked, { data }: RawEvent, told: Told, what: () => string): void {
  mustSay(data, { reason: asked.reason }, what);
  mustSay(told, { status: 'CANCELLED' }, what);
  mustSay(told.cancellation ?? {}, { cancelled_by: 'ORIGINATOR', reason: asked.reason }, what);
}

/** Each field as it is wanted; one that is wanted as undefined must not be there. */
function mustSay(found: object, wanted: Fields, what: () => string): void {
  const fields: Fields = { ...found };
  for (const [name, value] of Object.entries(wanted)) {
    must(
      isDeepStrictEqual(fields[name], value),
      ASKED,
      () => `${what()}: ${name} is ${JSON.stringify(fields[name])} instead of ${JSON.stringify(value)}`,
    );
  }
}

function termsOf(quote: RawQuote): Fields {
  const { price_atoms, quantity_atoms, min_quantity_atoms, expires_at, client_reference } = quote;
  return { price_atoms, quantity_atoms, min_quantity_atoms, expires_at, client_reference };
}

function plainRoute({ venue, contract_id, outcome }: RawTerms['routes'][number]): object {
  return { venue, contract_id, outcome };
}

/** A date keeps milliseconds alone, so what is finer is put behind them again. */
function later(instant: string, millis: number): string {
  const end = 'yyyy-mm-ddThh:mm:ss.mmm'.length;
  const shifted = new Date(Date.parse(`${instant.slice(0, end)}Z`) + millis).toISOString();
  return shifted.slice(0, end) + instant.slice(end);
}

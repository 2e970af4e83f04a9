import type { GridBand, ListingStatus } from '../../../rules/events.js';
import { FULL_PRICE, microsOfDecimal } from '../../../rules/scales.js';
import { microsOfTime } from '../../../rules/times.js';
import type { SeenMarket } from '../protocol.js';
import { BadBody } from '../reading.js';
import type { OutcomeOfE, SettledOfE } from './shapes.js';

const SIDES = 10;
const MICROS_PER_MILLI = 1_000;

/** Each outcome of the venue is a market here, and its two sides are the outcomes of that market. */
export function tokenOf(marketId: string, outcomeIndex: number): string {
  return `#${String(Number(marketId) * SIDES + outcomeIndex)}`;
}

/** Expects a valid token id. */
export function sideOfToken(token: string): { readonly market_id: string; readonly outcome_index: number } {
  const encoding = Number(token.slice(1));
  const outcome_index = encoding % SIDES;
  return { market_id: String((encoding - outcome_index) / SIDES), outcome_index };
}

const STATES: Readonly<Record<string, ListingStatus>> = {
  open: 'active',
  halted: 'closed',
  closed: 'closed',
  resolved: 'closed',
};

export function seenMarket(outcome: OutcomeOfE): SeenMarket {
  const facts = factsIn(outcome.description);
  const status = STATES[facts.get('status') ?? 'open'];
  if (status === undefined) throw new BadBody(`status of outcome ${String(outcome.outcome)} is unknown`);
  const changed_at = timeIn(facts.get('updated'));
  return { terms: termsOf(outcome, facts), status, ...(changed_at === undefined ? {} : { changed_at }) };
}

export function settledMarket({ spec, settleFraction: first }: SettledOfE): SeenMarket {
  const seen = seenMarket(spec);
  const { terms, changed_at: settlement_ts } = seen;
  return {
    ...seen,
    ...(settlement_ts === undefined ? {} : { terms: { ...terms, settlement_ts } }),
    resolution: { status: 'settled', payouts: [first, FULL_PRICE - first] },
  };
}

function termsOf(
  { outcome, name, sideSpecs, quoteToken }: OutcomeOfE,
  facts: ReadonlyMap<string, string>,
): SeenMarket['terms'] {
  const market_id = String(outcome);
  const [listed_at, expires_at] = [timeIn(facts.get('listed')), timeIn(facts.get('expiry'))];
  return {
    ...{ market_id, name },
    outcomes: sideSpecs.map(({ name: label }, index) => ({ label, token_id: tokenOf(market_id, index) })),
    ...(listed_at === undefined ? {} : { listed_at }),
    ...(expires_at === undefined ? {} : { expires_at }),
    contract: contractOf(facts, quoteToken),
    raw: { outcome, name, sideSpecs, quoteToken },
  };
}

function contractOf(
  facts: ReadonlyMap<string, string>,
  quote_currency: string,
): NonNullable<SeenMarket['terms']['contract']> {
  const lot_size = microsOfDecimal(facts.get('size') ?? '');
  const common = { quote_currency, ...(lot_size === undefined ? {} : { lot_size }) };
  const bands = (facts.get('ticks') ?? '').split(',').flatMap((band) => bandOf(band) ?? []);
  const [first] = bands;
  const last = bands.at(-1);
  if (first === undefined || last === undefined) return common;
  return {
    ...common,
    tick_size: bands.reduce((least, { step }) => Math.min(least, step), first.step),
    min_price: first.start === 0 ? first.step : first.start,
    max_price: last.end === FULL_PRICE ? FULL_PRICE - last.step : last.end,
    bands,
  };
}

function bandOf(text: string): GridBand | undefined {
  const [start, end, step] = text.split('/').map(microsOfDecimal);
  if (start === undefined || end === undefined || step === undefined) return undefined;
  return { start: Number(start), end: Number(end), step: Number(step) };
}

/** The venue describes outcomes by `name:value|name:value`. All names except `expiry` exist on the practice venue only. */
function factsIn(description: string): ReadonlyMap<string, string> {
  return new Map(
    description.split('|').map((part) => {
      const [name = '', ...value] = part.split(':');
      return [name, value.join(':')] as const;
    }),
  );
}

/** Milliseconds, or a time like `20260608-0600`. */
function timeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{10,13}$/.test(text)) return Number(text) * MICROS_PER_MILLI;
  const [, year, month, day, hour, minute] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  return microsOfTime(`${year}-${month ?? ''}-${day ?? ''}T${hour ?? ''}:${minute ?? ''}:00Z`);
}

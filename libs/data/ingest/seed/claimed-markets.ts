import type { Provider } from '../../rules/providers.js';
import { FULL_PRICE } from '../../rules/scales.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import { DAY, HOUR } from './calendar.js';
import { type Claim, type ClaimTerms, negated } from './claims.js';
import { coinClaims, inflationClaims, rateClaims, weatherClaims } from './claims-of-figures.js';
import { electionClaims, releaseClaims, titleClaims } from './claims-of-people.js';
import { idsOf } from './identities.js';
import { type LifePlan, lifeOf } from './life.js';
import { listingOf, type MarketWords } from './listing.js';
import type { Pace, SeedMarket } from './market.js';
import { openTimes, phasesOf, type WorldTimes } from './phases.js';
import { Draws, keyOf } from './random.js';

/** A market and what it really pays for, which its venue may not state clearly. */
export interface ClaimedMarket {
  readonly market: SeedMarket;
  /** Markets with the same claim pay the same; a market of the opposite pays when they do not. */
  readonly claim: string;
  readonly opposite?: string;
  /** The group of markets that can be mistaken for each other. */
  readonly kin: string;
  readonly terms: ClaimTerms;
}

const CENT = 10_000;
const UNTIL_RESOLVED = 2 * HOUR;
const UNTIL_SETTLED = 8 * HOUR;
const SHORTEST_LIFE = 2 * DAY;

/** The markets whose claim other venues may list too, and that last for days. */
export function claimedMarkets(seed: string, times: WorldTimes): ClaimedMarket[] {
  const { start, opens } = times;
  const makers = [
    ...[coinClaims, rateClaims, inflationClaims, weatherClaims],
    ...[electionClaims, titleClaims, releaseClaims],
  ];
  return makers
    .flatMap((claims) => claims(start))
    .filter(({ ends }) => ends >= opens + SHORTEST_LIFE)
    .flatMap((claim) =>
      venuesOf(seed, claim).map((provider, place) => claimedMarket(seed, { claim, provider, place }, times)),
    );
}

const VENUES = ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e'] as const;
/** At least this many venues list each claim. */
const ALWAYS = 2;

function venuesOf(seed: string, { key }: Claim): readonly Provider[] {
  const draws = new Draws(keyOf(`venues ${seed} ${key}`));
  const first = draws.below(VENUES.length);
  return VENUES.filter((_venue, index) => {
    const isAlways = (index - first + VENUES.length) % VENUES.length < ALWAYS;
    return draws.oneIn(3) || isAlways;
  });
}

interface Offer {
  readonly claim: Claim;
  readonly provider: Provider;
  /** Its index among the venues that list the claim. */
  readonly place: number;
}

function claimedMarket(seed: string, { claim, provider, place }: Offer, times: WorldTimes): ClaimedMarket {
  const key = keyOf(`${seed} ${provider} ${claim.key}`);
  const draws = new Draws(key);
  const isOpposite = claim.opposite !== undefined && place > 0 && draws.oneIn(4);
  const terms = settledAs(isOpposite ? (negated(claim.terms) ?? claim.terms) : claim.terms, place, draws);
  const words = wordsOf(claim, { isOpposite, place, terms, saysTerms: draws.oneIn(2) });
  const ids = idsOf(provider, { seed, key: claim.key, ticker: claim.ticker }, ['Yes', 'No']);
  const tick = draws.oneIn(4) ? CENT / 10 : CENT;
  const listedAt = listedBetween(times.opens, Math.min(times.start, claim.ends), draws);
  const listing = listingOf(words, {
    ...{ provider, ids, listedAt, tick },
    ...{ expiresAt: claim.ends, settlesAt: claim.ends + UNTIL_RESOLVED + UNTIL_SETTLED },
  });
  const claimKey = keyOf(`${seed} ${claim.key}`);
  const plan = planOf(claim, { claimKey, listedAt, isOpposite, isRevised: draws.oneIn(9) });
  const pace = paceOf(draws);
  const market: SeedMarket = {
    ...{ provider, ...ids, key, listing, life: lifeOf(listing, plan), pace },
    // With bands, the tick that all of them allow.
    tick: provider === 'venue_b' ? CENT : tick,
    phases: phasesOf(openTimes(listedAt, plan), pace, times),
    path: {
      ...{ key: claimKey, middle: claim.price, isOpposite, apart: draws.between(-9, 9) * 1_000 },
      ending: endingOf(plan, listedAt, isOpposite),
    },
  };
  const [straight, turned] = [claim.key, `not ${claim.key}`];
  return {
    ...{ market, kin: claim.kin, terms },
    ...(isOpposite ? { claim: turned, opposite: straight } : { claim: straight, opposite: turned }),
  };
}

/** Venues agree on the claim, but not always on the source that decides it. */
function settledAs(terms: ClaimTerms, place: number, draws: Draws): ClaimTerms {
  if (place === 0 || !draws.oneIn(4)) return terms;
  return draws.oneIn(2)
    ? { ...terms, source: `${terms.source ?? 'public reports'}, second reading` }
    : { ...terms, void: 'not known within a week' };
}

interface Wording {
  readonly isOpposite: boolean;
  readonly place: number;
  readonly terms: ClaimTerms;
  readonly saysTerms: boolean;
}

function wordsOf(claim: Claim, { isOpposite, place, terms, saysTerms }: Wording): MarketWords {
  const [title] = claim.titles;
  const { event, series, category, subcategory, tags, ticker } = claim;
  const source = terms.source === undefined ? '' : ` Source: ${terms.source}.`;
  const isVoid = terms.void === undefined ? '' : ` Void is half for each side: ${terms.void}.`;
  return {
    ...{ event, series, category, subcategory, tags, ticker },
    title: isOpposite ? (claim.opposite ?? title) : (claim.titles[place % claim.titles.length] ?? title),
    rules: `${isOpposite ? claim.rules.replace('Pays if', 'Pays unless') : claim.rules}${source}${isVoid}`,
    rulesSource: terms.source ?? null,
    ...(claim.sports === undefined ? {} : { sports: claim.sports }),
    ...(saysTerms ? { terms: { ...terms } } : {}),
    isExclusive: claim.kin.startsWith('election') || claim.kin.startsWith('title'),
  };
}

/** Listed in the first days, and early enough to trade before it ends. */
function listedBetween(opens: number, ends: number, draws: Draws): number {
  const minutes = Math.floor(Math.min(10 * DAY, (ends - opens) / 3) / (HOUR / 60));
  return draws.oneIn(3) ? opens + draws.below(minutes) * (HOUR / 60) : opens;
}

const KINDS = ['plain', 'void', 'disputed', 'early', 'halted', 'plain', 'plain', 'plain'] as const;

interface Circumstances {
  readonly claimKey: number;
  readonly listedAt: number;
  readonly isOpposite: boolean;
  readonly isRevised: boolean;
}

function planOf(claim: Claim, { claimKey, listedAt, isOpposite, isRevised }: Circumstances): LifePlan {
  const draws = new Draws(claimKey);
  const kind = draws.of(KINDS);
  const comesTrue = draws.below(FULL_PRICE) < claim.price;
  const life = claim.ends - listedAt;
  const closes = kind === 'early' ? wholeSecond(claim.ends - 0.3 * life) : claim.ends;
  const yes = comesTrue !== isOpposite ? FULL_PRICE : 0;
  const payouts = kind === 'void' ? [FULL_PRICE / 2, FULL_PRICE / 2] : [yes, FULL_PRICE - yes];
  const resolves = closes + UNTIL_RESOLVED;
  const haltedFrom = wholeSecond(listedAt + life / 2);
  return {
    ...{ closes, resolves, settles: resolves + UNTIL_SETTLED, payouts, isEarly: kind === 'early' },
    ...(kind === 'disputed'
      ? { disputed: { payouts: [FULL_PRICE - yes, yes], corrects: resolves + 3 * HOUR } }
      : {}),
    ...(kind === 'halted' ? { halted: { from: haltedFrom, until: haltedFrom + HOUR } } : {}),
    ...(isRevised ? { revises: { at: wholeSecond(listedAt + life / 4), tick: CENT / 10 } } : {}),
  };
}

function wholeSecond(micros: number): number {
  return Math.floor(micros / MICROS_PER_SECOND) * MICROS_PER_SECOND;
}

/** The price moves towards the payout of the claim, not of its opposite. */
function endingOf(
  { closes, payouts }: LifePlan,
  listedAt: number,
  isOpposite: boolean,
): NonNullable<SeedMarket['path']['ending']> {
  const [yes = 0] = payouts;
  const until = closes / MICROS_PER_SECOND;
  const listed = listedAt / MICROS_PER_SECOND;
  return { from: until - (until - listed) / 5, until, pays: isOpposite ? FULL_PRICE - yes : yes };
}

const HUNDRED = 100;
const BUSY = 7;
const STEADY = 25;

function paceOf(draws: Draws): Pace {
  const share = draws.below(HUNDRED);
  if (share < BUSY) return 'busy';
  return share < STEADY ? 'steady' : 'thin';
}

import type { Random } from '../kernel/random.js';
import { MAKERS, MARKETS, ORIGINATORS, type Furniture } from '../people/cast.js';
import { arranged, instantAt } from './arranged.js';
import { OWNERS, type Deed, type Incident } from './plan.js';
import { protectionOf } from './protection.js';

/** More than there may be live in a shard where few may, and more than its account may open at once. */
const MANY_CREATES = 8;
/** More than one may quote in one auction at once. */
const MANY_QUOTES = 32;
const RUSH_MILLIS = 300;
/** When those auctions close with whose awards a maker's protection trips, and for how long its other quotes would stand. */
const TRIPS_AT_MILLIS = 4_000;
const OTHERS_MILLIS = 4_500;
/** When it tries to quote in them again, while it is mostly still kept away. */
const TRIES_AGAIN_MILLIS = 5_400;
const TRIES_MILLIS = 2_000;

/** Of worlds in which nothing goes wrong: hours in which people come up against what is bounded, and what happens to all at once. */
export function busyHours(random: Random, activeMillis: number): Incident[] {
  return [
    ...(random.chance(0.5) ? rushOfCreates(random, 'first-rush', 700) : []),
    ...(random.chance(0.5) ? rushOfCreates(random, 'second-rush', Math.max(1_500, activeMillis - 300)) : []),
    ...(random.chance(0.5) ? rushOfQuotes(random) : []),
    ...(random.chance(0.5) ? marketClosing(random, activeMillis) : []),
  ];
}

function rushOfCreates(random: Random, name: string, atMillis: number): Deed[] {
  const account = random.pick(ORIGINATORS);
  return Array.from({ length: MANY_CREATES }, (_, index) => ({
    ...arranged('CREATE', account, `${name}-${index}`),
    atMillis: atMillis + random.below(RUSH_MILLIS),
  }));
}

/** One maker, in one auction. */
function rushOfQuotes(random: Random): Deed[] {
  const key = 'rushed';
  const account = random.pick(MAKERS);
  const closesAt = instantAt(6_000);
  return [
    { ...arranged('CREATE', random.pick(ORIGINATORS), key), atMillis: 650, closesAt },
    ...Array.from({ length: MANY_QUOTES }, (_, index) => ({
      ...arranged('SUBMIT', account, `${key}-${index}`),
      about: key,
      atMillis: 1_500 + random.below(RUSH_MILLIS),
    })),
  ];
}

function marketClosing(random: Random, activeMillis: number): Incident[] {
  const [target = ''] = OWNERS;
  const other = random.pick([...MARKETS.keys()]);
  const atMillis = random.between(1_500, activeMillis);
  return [{ kind: 'FAULT', name: 'MARKET_CLOSES', target, other, atMillis, millis: 0 }];
}

interface TrippingMaker {
  readonly protection: Furniture['protection'];
  readonly deeds: readonly Deed[];
}

/** A maker with quotes in many auctions, some of which close before the others, at once or one after the other. */
export function trippingMaker(random: Random): TrippingMaker {
  const own = random.fork('bounds');
  const apart = own.pick([0, 0, 500]);
  const maker = random.pick(MAKERS);
  const later = Array.from({ length: 9 }, (_, index) => ({ key: `later-${index}`, closes: OTHERS_MILLIS }));
  const sooner = Array.from({ length: 5 }, (_, index) => ({ key: `sooner-${index}`, closes: index * apart }));
  const quote = (name: string, key: string): Omit<Deed, 'atMillis'> => ({
    ...arranged('SUBMIT', maker, `${name}-${key}`),
    about: key,
  });
  const deeds = [...later, ...sooner].flatMap(({ key, closes }): Deed[] => [
    {
      ...arranged('CREATE', random.pick(ORIGINATORS), key),
      atMillis: 650 + random.below(RUSH_MILLIS),
      closesAt: instantAt(TRIPS_AT_MILLIS + closes),
    },
    { ...quote('in', key), atMillis: 2_800 + random.below(RUSH_MILLIS) },
  ]);
  const again = later.map(({ key }): Deed => ({
    ...quote('again-in', key),
    atMillis: TRIES_AGAIN_MILLIS + own.below(TRIES_MILLIS),
  }));
  return { protection: { [maker]: protectionOf(own) }, deeds: [...deeds, ...again] };
}

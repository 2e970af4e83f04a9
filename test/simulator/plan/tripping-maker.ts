import type { Random } from '../kernel/random.js';
import { MAKERS, ORIGINATORS, type Furniture } from '../people/cast.js';
import { arranged, instantAt } from './arranged.js';
import type { PlannedAction } from './plan.js';
import { protectionOf } from './protection.js';

const RUSH_MILLIS = 300;
/** The close of the auctions whose awards trip a maker's protection, and the lifetime of its other quotes. */
const TRIPS_AT_MILLIS = 4_000;
const OTHERS_MILLIS = 4_500;
/** The maker tries to quote again at this time, usually while it is still blocked. */
const TRIES_AGAIN_MILLIS = 5_400;
const TRIES_MILLIS = 2_000;

interface TrippingMaker {
  readonly protection: Furniture['protection'];
  readonly deeds: readonly PlannedAction[];
}

/** A maker with quotes in many auctions. Some auctions close before the others, together or one after another. */
export function trippingMaker(random: Random): TrippingMaker {
  const own = random.fork('bounds');
  const apart = own.pick([0, 0, 500]);
  const maker = random.pick(MAKERS);
  const later = Array.from({ length: 9 }, (_, index) => ({ key: `later-${index}`, closes: OTHERS_MILLIS }));
  const sooner = Array.from({ length: 5 }, (_, index) => ({ key: `sooner-${index}`, closes: index * apart }));
  const quote = (name: string, key: string): Omit<PlannedAction, 'atMillis'> => ({
    ...arranged('SUBMIT', maker, `${name}-${key}`),
    about: key,
  });
  const deeds = [...later, ...sooner].flatMap(({ key, closes }): PlannedAction[] => [
    {
      ...arranged('CREATE', random.pick(ORIGINATORS), key),
      atMillis: 650 + random.below(RUSH_MILLIS),
      closesAt: instantAt(TRIPS_AT_MILLIS + closes),
    },
    { ...quote('in', key), atMillis: 2_800 + random.below(RUSH_MILLIS) },
  ]);
  const again = later.map(({ key }): PlannedAction => ({
    ...quote('again-in', key),
    atMillis: TRIES_AGAIN_MILLIS + own.below(TRIES_MILLIS),
  }));
  return { protection: { [maker]: protectionOf(own) }, deeds: [...deeds, ...again] };
}

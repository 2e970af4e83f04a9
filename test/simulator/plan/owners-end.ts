import type { Random } from '../kernel/random.js';
import { MAKERS, MARKETS, ORIGINATORS } from '../people/cast.js';
import { arranged, instantAt } from './arranged.js';
import { OWNERS, type Deed, type Fault, type Incident } from './plan.js';

const LONG_AUCTIONS = 6;
/** Behind whatever an owner may still have to wait for that has just started. */
const CLOSES_AT_MILLIS = 10_500;
const ENDS_AT_MILLIS = 3_300;
/** By then they are mostly back. */
const BACK_MILLIS = 1_500;

/**
 * Nothing goes wrong but that each owner ends while auctions are open that go on for long, and that meanwhile happens what it would have
 * had to heed: a market closes, and makers go whose quotes are to go with their streams.
 */
export function ownersEnd(random: Random): Incident[] {
  const closesAt = instantAt(CLOSES_AT_MILLIS);
  const deeds = Array.from({ length: LONG_AUCTIONS }, (_, index) => `long-${index}`).flatMap(
    (key): Deed[] => [
      {
        ...arranged('CREATE', random.pick(ORIGINATORS), key),
        atMillis: 650 + random.below(500),
        closesAt,
      },
      ...MAKERS.map((maker) => ({
        ...arranged('SUBMIT', maker, `in-${key}`),
        about: key,
        atMillis: 1_600 + random.below(1_400),
      })),
    ],
  );
  const ends = OWNERS.map((owner) =>
    fault('CRASH', owner, '', ENDS_AT_MILLIS + random.below(BACK_MILLIS), 0),
  );
  const gone = MAKERS.filter(() => random.chance(0.6)).map((maker) =>
    fault('STREAM_AWAY', OWNERS[0] ?? '', maker, ENDS_AT_MILLIS - 200 + random.below(BACK_MILLIS), 9_000),
  );
  const closing = fault(
    'MARKET_CLOSES',
    OWNERS[0] ?? '',
    random.pick([...MARKETS.keys()]),
    ENDS_AT_MILLIS + random.below(BACK_MILLIS),
    0,
  );
  return [...deeds, ...ends, ...gone, ...(random.chance(0.6) ? [closing] : [])];
}

function fault(name: Fault['name'], target: string, other: string, atMillis: number, millis: number): Fault {
  return { kind: 'FAULT', name, target, other, atMillis, millis };
}

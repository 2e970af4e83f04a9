import type { Random } from '../kernel/random.js';
import { MAKERS, ORIGINATORS } from '../people/cast.js';
import { OWNERS, type PlannedAction, type PlannedFault, type Incident } from './plan.js';

/** Nothing that the owner wrote in this time before is projected. */
const UNPROJECTED_MILLIS = 600;
/** A successor is usually ready after this time. */
const FOUND_MILLIS = 400;

/** Later the owner waits for its broker, and decides nothing more. */
const AT_ONCE_MILLIS = 150;

/** Owners that are replaced and cannot know it, and what users do meanwhile. */
export function ownersBehind(random: Random, activeMillis: number): Incident[] {
  if (!random.chance(0.6)) return [];
  return Array.from({ length: random.between(1, 2) }, (_, index): Incident[] => {
    const target = random.pick(OWNERS);
    const atMillis = random.between(1_000, activeMillis);
    const millis = random.between(0, 6_000);
    const behind: PlannedFault = {
      kind: 'FAULT',
      name: 'OWNER_BEHIND',
      target,
      other: target,
      atMillis,
      millis,
    };
    return random.chance(0.2) ? [behind] : [behind, ...twoAtWork(random, `behind-${index}`, behind)];
  }).flat();
}

type When = readonly [from: number, to: number];

/**
 * Users send to both owners of the shard; what one of them is sent will be lost. Projectors are paused, so the
 * old owner's last writes become known together with its successor's; then every user reads.
 */
function twoAtWork(random: Random, name: string, { target, atMillis }: PlannedFault): Incident[] {
  const until = random.between(800, 2_500);
  const deeds = (
    count: number,
    act: PlannedAction['act'],
    accounts: readonly string[],
    [from, to]: When,
  ): PlannedAction[] =>
    Array.from({ length: count }, (_, index) => ({
      kind: 'DEED',
      atMillis: atMillis + random.between(from, to),
      account: random.pick(accounts),
      act,
      key: [name, act, from, index].join('-'),
      isTwice: false,
      shard: OWNERS.indexOf(target),
    }));
  const fault = { kind: 'FAULT', target } as const;
  const unprojected = UNPROJECTED_MILLIS + until;
  return [
    {
      ...fault,
      name: 'PROJECTORS_PAUSE',
      other: target,
      atMillis: atMillis - UNPROJECTED_MILLIS,
      millis: unprojected,
    },
    { ...fault, name: 'CUT', other: 'gateway-0', atMillis: atMillis + FOUND_MILLIS, millis: 0 },
    ...deeds(6, 'CREATE', ORIGINATORS, [-2 * UNPROJECTED_MILLIS, 0]),
    ...deeds(6, 'SUBMIT', MAKERS, [-UNPROJECTED_MILLIS, 0]),
    ...deeds(8, 'SUBMIT', MAKERS, [FOUND_MILLIS, until]),
    ...deeds(12, 'CANCEL', ORIGINATORS, [0, AT_ONCE_MILLIS]),
    ...deeds(18, 'LIST', [...ORIGINATORS, ...MAKERS], [until, until + 1_000]),
  ];
}

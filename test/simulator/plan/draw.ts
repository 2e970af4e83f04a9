import { Random } from '../kernel/random.js';
import {
  GROUP_OWNERS,
  MAKERS,
  ORIGINATORS,
  STRANGER,
  VENUES,
  type Furniture,
  type TradingRights,
  type Wealth,
} from '../people/cast.js';
import type { WorldSettings } from '../processes/world.js';
import type { DatabaseMood } from '../storage/database.js';
import { CALM_TOPIC, type TopicMood } from '../storage/topic.js';
import type { WireMood } from '../wire/network.js';
import { ownersBehind } from './owners-behind.js';
import { protectionOf } from './protection.js';
import { OWNERS, type PlannedAction, type PlannedFault, type FaultName, type Incident } from './plan.js';
import { trippingMaker } from './tripping-maker.js';

/** Everything that a seed decides in advance. Later random decisions follow from the seed too. */
export interface Plan extends Furniture {
  readonly seed: number;
  /** Only streams are lost: then everything must happen in time. */
  readonly isCalm: boolean;
  readonly activeMillis: number;
  readonly gateways: number;
  readonly projectors: number;
  readonly settlers: number;
  readonly wire: WireMood;
  readonly topic: TopicMood;
  readonly database: DatabaseMood;
  readonly settings: WorldSettings;
  /** The grace of quotes, for makers that quote over their stream. */
  readonly graces: Readonly<Record<string, number>>;
  readonly incidents: readonly Incident[];
}

const MOST_ACTIVE = { least: 5_000, most: 14_000 };
/** More than any account could promise. */
const PLENTY = 1_000_000_000_000;

/** Swarm testing: every seed has its own mix of actions and faults, and usually leaves some out. */
export function draw(seed: number): Plan {
  const plan = drawn(seed);
  const random = new Random(`calm ${seed}`);
  return random.chance(0.12) ? calm(plan, random) : plan;
}

const CALM = {
  wire: { slowestMillis: 3, drop: 0, repeat: 0, reorder: 0 },
  topic: CALM_TOPIC,
  database: { slowestMillis: 3, stall: 0, cut: 0 },
};

/** Keeps actions of users and operators, and loses streams more often. */
function calm(plan: Plan, random: Random): Plan {
  const cuts = Array.from({ length: random.between(4, 16) }, (): PlannedFault => {
    const atMillis = random.between(1_000, plan.activeMillis);
    return { kind: 'FAULT', name: 'STREAM_CUT', target: OWNERS[0] ?? '', other: '', atMillis, millis: 0 };
  });
  const away = Array.from({ length: random.between(0, 3) }, (): PlannedFault => {
    const atMillis = random.between(1_000, plan.activeMillis);
    const millis = random.between(1_000, 6_000);
    return {
      kind: 'FAULT',
      name: 'STREAM_AWAY',
      target: OWNERS[0] ?? '',
      other: random.pick(MAKERS),
      atMillis,
      millis,
    };
  });
  const kept = plan.incidents.filter((one) => one.kind === 'DEED' || OF_PEOPLE.has(one.name));
  const graces = Object.fromEntries(MAKERS.map((maker) => [maker, random.pick([0, 300, 700, 2_000])]));
  const busy = random.fork('busy');
  const tripping = busy.chance(0.4) ? trippingMaker(busy) : undefined;
  return {
    ...plan,
    isCalm: true,
    ...CALM,
    protection: { ...plan.protection, ...tripping?.protection },
    graces,
    incidents: [...kept, ...cuts, ...away, ...(tripping?.deeds ?? [])].sort(
      (a, b) => a.atMillis - b.atMillis,
    ),
  };
}

function drawn(seed: number): Plan {
  const random = new Random(`seed ${seed}`);
  const activeMillis = random.between(MOST_ACTIVE.least, MOST_ACTIVE.most);
  const gateways = random.between(1, 2);
  const has = (): boolean => random.chance(0.4);
  const isRough = has();
  const wealth = Object.fromEntries(
    [...ORIGINATORS, ...MAKERS, STRANGER].map((account) => [account, wealthOf(random)]),
  );
  return {
    seed,
    isCalm: false,
    activeMillis,
    gateways,
    projectors: random.between(1, 2),
    settlers: random.between(1, 2),
    wire: {
      slowestMillis: random.pick([1, 3, 30]),
      drop: isRough && has() ? 0.01 : 0,
      repeat: isRough && has() ? 0.03 : 0,
      reorder: isRough && has() ? 0.03 : 0,
    },
    topic: {
      slowestMillis: random.pick([1, 4, 40, 200]),
      lostBehind: has() ? 0.06 : 0,
      lostBefore: has() ? 0.06 : 0,
      late: has() ? 0.06 : 0,
      twice: has() ? 0.06 : 0,
      refused: has() ? 0.06 : 0,
      staleEnd: has() ? 0.1 : 0,
    },
    database: { slowestMillis: random.pick([1, 3, 15]), stall: has() ? 0.01 : 0, cut: has() ? 0.03 : 0 },
    settings: settingsOf(random, random.fork('readers')),
    wealth,
    protection: Object.fromEntries(
      MAKERS.filter(() => random.chance(0.25)).map((maker) => [
        maker,
        protectionOf(random.fork(`protection ${maker}`)),
      ]),
    ),
    ...policyOf(random.fork('policy')),
    graces: Object.fromEntries(
      MAKERS.filter(() => random.chance(0.4)).map((maker) => [maker, random.pick([0, 300, 2_000])]),
    ),
    incidents: [
      ...deedsOf(random.fork('deeds'), activeMillis),
      ...faultsOf(random.fork('faults'), activeMillis, gateways),
      ...ownersBehind(random.fork('owners behind'), activeMillis),
      ...ledgerHeld(random.fork('ledger'), activeMillis),
    ].sort((a, b) => a.atMillis - b.atMillis),
  };
}

/** In most worlds every account may trade everywhere and belongs to no house. */
function policyOf(random: Random): Pick<Furniture, 'standings' | 'groups'> {
  const standing = (): TradingRights => ({
    venues: random.chance(0.1) ? [random.pick(VENUES)] : VENUES,
    house: random.chance(0.12) ? 'a house' : null,
  });
  const house = (): TradingRights => ({ venues: VENUES, house: random.chance(0.3) ? 'a house' : null });
  return {
    standings: {
      ...Object.fromEntries(MAKERS.map((maker) => [maker, standing()])),
      ...Object.fromEntries(ORIGINATORS.map((originator) => [originator, house()])),
    },
    groups: Object.fromEntries([...GROUP_OWNERS.keys()].map((id) => [id, membersOf(random)])),
  };
}

function membersOf(random: Random): readonly string[] {
  return random.shuffled(MAKERS).slice(0, random.between(1, MAKERS.length));
}

function settingsOf(random: Random, ofReaders: Random): WorldSettings {
  return {
    shard: {
      activeAuctionLimit: random.chance(0.1) ? 3 : 100,
      commandsPerMakerLimit: random.chance(0.15) ? 4 : 100,
      limitsFactor: random.chance(0.2) ? 1 : 100,
      snapshotEvery: random.pick([5, 20, 1_000]),
      maxClockOffsetMillis: 500,
      maxProjectionLagEvents: random.chance(0.1) ? 30 : 10_000,
      maxProjectionLagMillis: random.chance(0.1) ? 1_500 : 60_000,
    },
    stream: {
      history: random.pick([4, 30, 1_000]),
      snapshotPart: random.pick([1, 200]),
      timelinePage: random.pick([1, 3, 200]),
      bufferedMessages: ofReaders.pick([2, 3, 5, 4_096]),
      overflowMillis: ofReaders.pick([100, 1_000, 10_000]),
    },
    executionConcurrency: random.between(1, 8),
  };
}

function wealthOf(random: Random): Wealth {
  const isPoor = random.chance(0.25);
  return {
    collateral: isPoor ? random.between(1_000_000, 15_000_000) : PLENTY,
    tokens: random.chance(0.4) ? random.between(1, 20_000_000) : 0,
    positions: random.chance(0.1) ? 30_000_000 : PLENTY,
    exposure: random.chance(0.1) ? 12_000_000 : PLENTY,
  };
}

const OF_PEOPLE: ReadonlySet<FaultName> = new Set(['STREAM_CUT', 'MARKET_CLOSES']);
const ON_QUOTES: ReadonlySet<PlannedAction['act']> = new Set(['REVISE', 'WITHDRAW']);
const OF_ORIGINATORS: ReadonlySet<PlannedAction['act']> = new Set(['CREATE', 'CANCEL']);

function deedsOf(random: Random, activeMillis: number): PlannedAction[] {
  const weights: Readonly<Record<PlannedAction['act'], number>> = {
    CREATE: random.between(1, 4),
    CANCEL: random.between(0, 1),
    SUBMIT: random.between(8, 24),
    REVISE: random.between(0, 10),
    WITHDRAW: random.between(0, 4),
    WITHDRAW_ALL: random.between(0, 2),
    READ: random.between(1, 6),
    FOLLOW: random.between(0, 3),
    LIST: 0,
  };
  const acts = (Object.keys(weights) as PlannedAction['act'][]).flatMap((act) =>
    Array<PlannedAction['act']>(weights[act]).fill(act),
  );
  const count = random.between(25, 110);
  return Array.from({ length: count }, (_, index) => {
    const act = index < 2 ? 'CREATE' : random.pick(acts);
    const isOriginators =
      OF_ORIGINATORS.has(act) || ((act === 'READ' || act === 'FOLLOW') && random.chance(0.4));
    const account = random.chance(0.03)
      ? random.pick([STRANGER, ...ORIGINATORS])
      : random.pick(isOriginators ? ORIGINATORS : MAKERS);
    return {
      kind: 'DEED',
      atMillis: 600 + random.below(index < 2 ? 100 : activeMillis - 700),
      account,
      act,
      key: `k${index}`,
      isTwice: random.chance(0.08),
      isAmbiguous: random.chance(0.04),
      ...(random.chance(0.2) ? { repeatMillis: random.between(200, 5_000) } : {}),
      ...(act === 'CREATE' ? identityOf(random.fork(`identity ${index}`)) : {}),
      ...(ON_QUOTES.has(act) && random.fork(`foreign ${index}`).chance(0.06) ? { isForeign: true } : {}),
    };
  });
}

export function identityOf(random: Random): Pick<PlannedAction, 'identity'> {
  if (random.chance(0.2)) return {};
  const originator = random.pick(['ANONYMOUS', 'DISCLOSED', 'WINNER_ONLY']);
  const makers = random.pick(['ANONYMOUS', 'DISCLOSED_AFTER_AWARD']);
  return { identity: { originator, market_makers: makers } };
}

const SOMETIMES: readonly { readonly name: FaultName; readonly most: number; readonly millis: number }[] = [
  { name: 'CRASH', most: 6, millis: 0 },
  { name: 'PAUSE', most: 3, millis: 4_000 },
  { name: 'DEPOSE', most: 3, millis: 5_000 },
  { name: 'LONG_PAUSE', most: 2, millis: 6_000 },
  { name: 'PROJECTORS_PAUSE', most: 2, millis: 7_000 },
  { name: 'CRASH_UNPROJECTED', most: 2, millis: 4_000 },
  { name: 'CUT', most: 6, millis: 0 },
  { name: 'PARTITION', most: 3, millis: 3_000 },
  { name: 'CLOCK_JUMP', most: 3, millis: 0 },
  { name: 'DATABASE_RESTART', most: 2, millis: 100 },
  { name: 'DATABASE_OUTAGE', most: 1, millis: 4_000 },
  { name: 'BROKER_OUTAGE', most: 2, millis: 3_000 },
  { name: 'GATEWAY_BEHIND', most: 4, millis: 4_000 },
  { name: 'STREAM_CUT', most: 12, millis: 0 },
  { name: 'MARKET_CLOSES', most: 1, millis: 0 },
  { name: 'RIVAL', most: 3, millis: 0 },
  { name: 'READER_STOPS', most: 10, millis: 4_000 },
];

/** A transaction locks the balances for longer than settlers wait. */
function ledgerHeld(random: Random, activeMillis: number): PlannedFault[] {
  if (!random.chance(0.3)) return [];
  return Array.from({ length: random.between(1, 3) }, (): PlannedFault => {
    const target = 'settler-0';
    const atMillis = random.between(1_500, activeMillis);
    return {
      kind: 'FAULT',
      name: 'LEDGER_HELD',
      target,
      other: target,
      atMillis,
      millis: random.between(1_200, 4_000),
    };
  });
}

const OF_OWNERS: ReadonlySet<FaultName> = new Set(['DEPOSE', 'RIVAL', 'CLOCK_JUMP', 'CRASH_UNPROJECTED']);

function faultsOf(random: Random, activeMillis: number, gateways: number): PlannedFault[] {
  const doors = Array.from({ length: gateways }, (_, index) => `gateway-${index}`);
  const others = [...doors, 'projector-0', 'settler-0'];
  const chosen = SOMETIMES.filter(() => random.chance(0.4));
  return chosen.flatMap(({ name, most, millis }) =>
    Array.from({ length: random.between(1, most) }, (): PlannedFault => ({
      kind: 'FAULT',
      atMillis: random.between(300, activeMillis),
      name,
      target: OF_OWNERS.has(name) || random.chance(0.6) ? random.pick(OWNERS) : random.pick(others),
      other: random.pick([...doors, ...doors, ...OWNERS, 'settler-0']),
      millis:
        name === 'CLOCK_JUMP'
          ? random.pick([-5_000, -800, -200, 200, 900, 5_000, 3_600_000])
          : Math.round(random.next() * millis),
    })),
  );
}

import { instantFromNanos } from '#libs/base/instant.js';
import { BEGINNING, NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import { Random } from '../kernel/random.js';
import { MAKERS, ORIGINATORS, STRANGER } from '../people/cast.js';
import { draw, identityOf, type Plan } from '../plan/draw.js';
import type { PlannedAction } from '../plan/plan.js';
import { simulate, type SimulationOutcome, type Watching } from '../simulation.js';
import { millisOf } from '../kernel/trace.js';
import { CALM_TOPIC } from '../storage/topic.js';
import { firstDifference } from './first-difference.js';
import { TwinTranscript } from './transcript.js';

const TWINS = 'noninterference';

const CLOSES_AT_MILLIS = 6_000;
/** A delay below this is still matched in the other run. */
const MARGIN_MILLIS = 50;
/** Longer than any command takes without faults. */
const APART_MILLIS = 40;
const OBSERVERS = [...ORIGINATORS, ...MAKERS.slice(0, 1), STRANGER];
const RIVALS = MAKERS.slice(1);
const ACTS: readonly PlannedAction['act'][] = [
  'SUBMIT',
  'SUBMIT',
  'SUBMIT',
  'REVISE',
  'REVISE',
  'WITHDRAW',
  'READ',
  'READ',
  'READ',
];

/**
 * Runs one world twice, with and without the actions of competitors, and compares all that the others were sent
 * until results were disclosed. The world has no faults. On a difference, the trace is that of the run with
 * competitors up to that moment.
 */
export async function liveTwins(
  plan: Plan,
  { keepsTrace = false }: Watching = {},
): Promise<SimulationOutcome> {
  const alone: Plan = {
    ...plan,
    incidents: plan.incidents.filter((one) => one.kind === 'DEED' && OBSERVERS.includes(one.account)),
  };
  const closesAtNanos = CLOSES_AT_MILLIS * NANOS_PER_MILLI;
  const told = { crowded: new TwinTranscript(closesAtNanos), quiet: new TwinTranscript(closesAtNanos) };
  const crowded = await simulate(plan, { transcript: told.crowded, keepsTrace });
  if (crowded.violation !== undefined) return ofTwins(crowded, 'with competitors');
  const quiet = await simulate(alone, { transcript: told.quiet, keepsTrace });
  if (quiet.violation !== undefined) return ofTwins(quiet, 'without competitors');
  const both = { ...crowded, digest: `${crowded.digest}+${quiet.digest}` };
  const settledNanos = closesAtNanos - MARGIN_MILLIS * NANOS_PER_MILLI;
  const difference = firstDifference(told.crowded, told.quiet, OBSERVERS, settledNanos);
  if (difference === undefined) return both;
  const what = `${TWINS}: ${difference.what}`;
  const lines = crowded.lines.filter((line) => millisOf(line) * NANOS_PER_MILLI <= difference.atNanos);
  return { ...both, violation: { check: TWINS, what }, lines: [...lines, what] };
}

function ofTwins(outcome: SimulationOutcome, life: string): SimulationOutcome {
  const { violation } = outcome;
  if (violation === undefined) return outcome;
  return { ...outcome, violation: { ...violation, what: `twins, ${life}: ${violation.what}` } };
}

/** All auctions close at the same moment, so no result is disclosed before it. */
export function twinPlan(seed: number): Plan {
  const base = draw(seed);
  const random = new Random(`twins ${seed}`);
  const closesAt = instantFromNanos(BEGINNING + BigInt(CLOSES_AT_MILLIS) * 1_000_000n);
  const creates = Array.from({ length: random.between(1, 4) }, (_, index): PlannedAction => {
    const account = random.pick(ORIGINATORS);
    return {
      kind: 'DEED',
      atMillis: 700 + 100 * index,
      account,
      act: 'CREATE',
      key: `c${index}`,
      isTwice: false,
      closesAt,
      ...identityOf(random.fork(`identity ${index}`)),
    };
  });
  const deeds = Array.from({ length: random.between(20, 60) }, (_, index): PlannedAction => {
    const account = random.chance(0.5) ? random.pick(RIVALS) : random.pick(OBSERVERS);
    const act = MAKERS.includes(account) ? random.pick(ACTS) : 'READ';
    const atMillis = 1_500 + random.below(CLOSES_AT_MILLIS - 1_700);
    return { kind: 'DEED', atMillis, account, act, key: `t${index}`, isTwice: false };
  });
  const incidents = [...creates, ...oneAfterTheOther(deeds)];
  const { shard } = base.settings;
  return {
    ...base,
    isCalm: true,
    activeMillis: CLOSES_AT_MILLIS,
    wire: { slowestMillis: 0, drop: 0, repeat: 0, reorder: 0 },
    topic: { ...CALM_TOPIC, slowestMillis: 0 },
    database: { slowestMillis: 0, stall: 0, cut: 0 },
    settings: {
      ...base.settings,
      stream: {
        history: 1_000,
        snapshotPart: 200,
        timelinePage: 200,
        bufferedMessages: 4_096,
        overflowMillis: 10_000,
      },
      shard: {
        ...shard,
        activeAuctionLimit: 100,
        maxProjectionLagEvents: 10_000,
        maxProjectionLagMillis: 60_000,
      },
    },
    graces: {},
    incidents: incidents.sort((a, b) => a.atMillis - b.atMillis),
  };
}

/**
 * Two commands sent at once may be ordered by what else a batch holds. So each account sends one after another
 * here; commands that would come too late are left out.
 */
function oneAfterTheOther(deeds: readonly PlannedAction[]): PlannedAction[] {
  const free = new Map<string, number>();
  return [...deeds]
    .sort((a, b) => a.atMillis - b.atMillis)
    .flatMap((deed) => {
      const atMillis = Math.max(deed.atMillis, free.get(deed.account) ?? 0);
      free.set(deed.account, atMillis + APART_MILLIS);
      return atMillis > CLOSES_AT_MILLIS - 200 ? [] : [{ ...deed, atMillis }];
    });
}

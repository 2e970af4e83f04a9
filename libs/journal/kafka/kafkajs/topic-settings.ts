/** The value for a new topic, and the least that suffices, if more than the value does. */
type Setting = readonly [name: string, value: string, least?: number];

/** The largest append and what a batch adds to it. */
const MESSAGE_BYTES = 20 * 1024 * 1024;
const SEGMENT_BYTES = 1024 * 1024 * 1024;

/** The required settings of a journal's topic, whatever the brokers' defaults are. */
const SETTINGS: readonly Setting[] = [
  ['cleanup.policy', 'delete'],
  ['retention.ms', '-1'],
  ['retention.bytes', '-1'],
  ['unclean.leader.election.enable', 'false'],
  // Batches are kept as they were sent.
  ['compression.type', 'producer'],
  ['max.message.bytes', String(MESSAGE_BYTES), MESSAGE_BYTES],
  // A batch goes into one segment, or is refused.
  ['segment.bytes', String(SEGMENT_BYTES), MESSAGE_BYTES],
];
/**
 * How far a message's timestamp may differ from the broker's clock. Owners write the timestamps, so a narrow bound would make
 * brokers refuse appends after a clock difference or a slow append. New topics set no bound: brokers before 3.6 lack the first
 * two names, and brokers from 4.0 on the third.
 */
const TIME_BOUNDS = [
  'message.timestamp.before.max.ms',
  'message.timestamp.after.max.ms',
  'message.timestamp.difference.max.ms',
];
const LEAST_TIME_BOUND = 3_600_000;
const REPLICAS = 3;
const IN_SYNC = 2;

/** A topic as a cluster describes it. */
export interface FoundTopic {
  readonly partitions: number;
  readonly replicas: number;
  /** Offset of the first message that is still there. */
  readonly start: number;
  readonly settings: ReadonlyMap<string, string>;
}

/** How many copies of a topic a cluster of so many brokers keeps. */
export function replicasAmong(brokers: number): number {
  return Math.min(REPLICAS, brokers);
}

export function settingsFor(replicas: number): [name: string, value: string][] {
  return wanted(replicas).map(([name, value]) => [name, value]);
}

/** Why a topic would lose or change its records; empty for one that is fit for a journal. */
export function unfitness(found: FoundTopic, replicas: number): string[] {
  const faults: string[] = [];
  if (found.partitions !== 1) faults.push(`it has ${found.partitions} partitions instead of 1`);
  if (found.replicas < replicas) faults.push(`it has ${found.replicas} replicas instead of ${replicas}`);
  for (const [name, value, least] of wanted(Math.max(replicas, found.replicas))) {
    const given = found.settings.get(name);
    const isGood = least === undefined ? given === value : Number(given) >= least;
    const asked = least === undefined ? value : `${least} or more`;
    if (!isGood) faults.push(`${name} is ${given ?? 'not set'} instead of ${asked}`);
  }
  return [...faults, ...refusalsByTime(found)];
}

/** A broker that writes its own timestamps refuses none. */
function refusalsByTime({ settings }: FoundTopic): string[] {
  if (settings.get('message.timestamp.type') === 'LogAppendTime') return [];
  return TIME_BOUNDS.flatMap((name) => {
    const given = settings.get(name);
    if (given === undefined || Number(given) >= LEAST_TIME_BOUND) return [];
    return [`${name} is ${given} instead of ${LEAST_TIME_BOUND} or more`];
  });
}

function wanted(replicas: number): Setting[] {
  const inSync = replicas >= REPLICAS ? IN_SYNC : 1;
  return [...SETTINGS, ['min.insync.replicas', String(inSync), inSync]];
}

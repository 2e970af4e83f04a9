import type { PlacedEvent } from '../../simulator/oracle/raw-events.js';
import { must } from '../../simulator/oracle/violation.js';
import type { Findings } from './findings.js';

/** Something with a deadline: the deadline, and when it was written, by a clock that never jumps. */
export interface MetDeadline {
  readonly what: string;
  readonly dueAt: number;
  readonly writtenAt: number;
}

/** An award that was not settled: when it could first have been settled, and when it was given up, by the same clock. */
interface GivenUp {
  readonly what: string;
  readonly awardedAt: number;
  readonly writtenAt: number;
}

/** A period with a fault, by the same clock. */
export interface Disturbance {
  readonly kinds: readonly string[];
  readonly began: number;
  /** All faults were over by this time. */
  readonly ended: number;
}

const EARLY = 'nothing is over before its time';
const LATE = 'everything is over at its time';
const CARRIED = 'what can be settled is settled';
/** One clock for all, read in milliseconds. Its anchor may be off by two of them. */
const READING_MS = 10;
/**
 * An owner trusts a clock within a second of the database's. Half of an answer's round trip, up to twice that,
 * may hide more, and a step below half a second goes unnoticed.
 */
const TRUSTED_MS = 3_500;
/** A corrected clock shows it after a second at the latest. */
const CLOCK_LAG_MS = 2_000;
/** Time without faults: machines are busy, but owners wait for nothing. */
const LATEST_MS = 5_000;

/** Everything in the journals that had a deadline. */
export class Deadlines {
  readonly met: MetDeadline[] = [];
  readonly givenUp: GivenUp[] = [];
  private readonly awarded = new Map<string, number>();

  note({ sequence, event }: PlacedEvent, writtenAt: number): void {
    const { type, at, auction_id: id = '' } = event;
    const what = `${type} ${sequence} of ${id}`;
    if (type === 'AUCTION_AWARDED') this.awarded.set(id, writtenAt);
    if (type === 'EXECUTION_FAILED')
      this.givenUp.push({ what, awardedAt: this.awarded.get(id) ?? writtenAt, writtenAt });
    if (type === 'AUCTION_CLOSED' || type === 'QUOTE_EXPIRED')
      this.met.push({ what, dueAt: Date.parse(at), writtenAt });
  }
}

/** Compares closes, expiries and failed awards with true time. */
export function checkDeadlines(
  { met, givenUp }: Deadlines,
  disturbances: readonly Disturbance[],
  findings: Findings,
): void {
  const clocks = disturbances.filter(({ kinds }) => kinds.some((kind) => kind.startsWith('clock:')));
  for (const { what, dueAt, writtenAt } of met) {
    findings.look('closes and expiries', () => {
      const isMisled = clocks.some(
        ({ began, ended }) => writtenAt >= began && writtenAt <= ended + CLOCK_LAG_MS,
      );
      const mostAhead = isMisled ? TRUSTED_MS : READING_MS;
      must(dueAt - writtenAt <= mostAhead, EARLY, () => `${what} by ${Math.round(dueAt - writtenAt)} ms`);
      const calm = calmBetween(dueAt, writtenAt, disturbances);
      must(calm <= LATEST_MS, LATE, () => `${what} is late by ${Math.round(calm)} ms in which all was well`);
    });
  }
  for (const { what, awardedAt, writtenAt } of givenUp) {
    findings.look('awards given up', () => {
      const calm = calmBetween(awardedAt, writtenAt, disturbances);
      must(
        calm <= LATEST_MS,
        CARRIED,
        () => `${what} after ${Math.round(calm)} ms in which all was well, though all was set aside`,
      );
    });
  }
}

/** The part of the period outside all disturbances, which do not overlap. */
function calmBetween(from: number, to: number, disturbances: readonly Disturbance[]): number {
  const disturbed = disturbances.reduce(
    (sum, { began, ended }) => sum + Math.max(0, Math.min(to, ended) - Math.max(from, began)),
    0,
  );
  return to - from - disturbed;
}

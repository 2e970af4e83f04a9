import { brokerFaults } from './broker-faults.js';
import { clockFaults } from './clock-faults.js';
import { diskFaults } from './disk-faults.js';
import type { InjectedFaultKind } from './fault-kind.js';
import { processFaults } from './process-faults.js';
import { rivalFaults } from './rival-faults.js';
import { wireFaults } from './wire-faults.js';

export const ALL_KINDS: readonly InjectedFaultKind[] = [
  ...processFaults,
  ...brokerFaults,
  ...rivalFaults,
  ...clockFaults,
  ...diskFaults,
  ...wireFaults,
];

/** The kinds whose names begin with one of these words; all kinds for an empty list. */
export function kindsNamed(beginnings: readonly string[]): readonly InjectedFaultKind[] {
  if (beginnings.length === 0) return ALL_KINDS;
  return ALL_KINDS.filter(({ name }) => beginnings.some((beginning) => name.startsWith(beginning)));
}

/** The words that match no kind. */
export function wordsForNothing(beginnings: readonly string[]): readonly string[] {
  return beginnings.filter((beginning) => !ALL_KINDS.some(({ name }) => name.startsWith(beginning)));
}

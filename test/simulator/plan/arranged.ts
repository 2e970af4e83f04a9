import { instantFromNanos } from '#libs/base/instant.js';
import { BEGINNING } from '../kernel/sim-clock.js';
import type { PlannedAction } from './plan.js';

/** An action of a scene: sent once, and repeated only if there is no answer. */
export function arranged(
  act: PlannedAction['act'],
  account: string,
  key: string,
): Omit<PlannedAction, 'atMillis'> {
  return { kind: 'DEED', account, act, key, isTwice: false };
}

/** This many milliseconds after the world's beginning. */
export function instantAt(millis: number): string {
  return instantFromNanos(BEGINNING + BigInt(millis) * 1_000_000n);
}

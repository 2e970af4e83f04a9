import { instantFromNanos } from '#libs/base/instant.js';
import { BEGINNING } from '../kernel/sim-clock.js';
import type { PlannedAction } from './plan.js';

/** A deed that belongs to a scene: said once, and said again only where nobody answers. */
export function arranged(
  act: PlannedAction['act'],
  account: string,
  key: string,
): Omit<PlannedAction, 'atMillis'> {
  return { kind: 'DEED', account, act, key, isTwice: false };
}

/** So long behind the beginning of the world. */
export function instantAt(millis: number): string {
  return instantFromNanos(BEGINNING + BigInt(millis) * 1_000_000n);
}

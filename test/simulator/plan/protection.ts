import type { Random } from '../kernel/random.js';
import type { ProtectionRow } from '../storage/tables.js';

/** More than any account wins in a world. */
const NEVER = { awards: 1_000, notional: 1_000_000_000_000_000 };

/**
 * A maker's limits: usually the number of awards, otherwise their value; a few or less than one, and sometimes
 * too high to reach.
 */
export function protectionOf(random: Random): ProtectionRow {
  const awards = random.between(1, 3);
  const notional = random.pick([20_000, 2_000_000, 5_000_000]);
  const [max_awards, max_award_notional_atoms] = random.pick<readonly [number, number]>([
    [awards, NEVER.notional],
    [awards, NEVER.notional],
    [NEVER.awards, notional],
    [NEVER.awards, notional],
    [awards + 1, 5_000_000],
    [NEVER.awards, 100_000_000],
  ]);
  return {
    window_ms: random.pick([3_000, 10_000]),
    max_awards,
    max_award_notional_atoms,
    frozen_ms: random.pick([1_500, 4_000]),
  };
}

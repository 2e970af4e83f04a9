/** The breaker opens when half of the last `COUNTED` calls failed, if all of them fell within this time. */
const COUNTED = 20;
const WITHIN_MILLIS = 30_000;
const OPEN_MILLIS = 30_000;

interface CountedCall {
  readonly at: number;
  readonly failed: boolean;
}

/** The breaker of one kind of order at one venue. Its times come from a monotonic clock. */
export interface Breaker {
  readonly recent: readonly CountedCall[];
  readonly opened_at?: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export const CLOSED_BREAKER: Breaker = { recent: [] };

export function breakerState({ opened_at: opened }: Breaker, now: number): BreakerState {
  if (opened === undefined) return 'closed';
  return now < opened + OPEN_MILLIS ? 'open' : 'half_open';
}

/** When an open breaker lets one trial order through. */
export function halfOpenAt({ opened_at: opened }: Breaker): number | undefined {
  return opened === undefined ? undefined : opened + OPEN_MILLIS;
}

/** Counts one call that has ended. Calls that end while the breaker is open were sent before it opened and do not count. */
export function afterCall(breaker: Breaker, call: CountedCall): Breaker {
  const state = breakerState(breaker, call.at);
  if (state === 'open') return breaker;
  if (state === 'half_open') return call.failed ? { recent: [], opened_at: call.at } : CLOSED_BREAKER;
  const recent = [...breaker.recent, call].slice(-COUNTED);
  return isBroken(recent, call.at) ? { recent: [], opened_at: call.at } : { recent };
}

function isBroken(recent: readonly CountedCall[], now: number): boolean {
  const [first] = recent;
  if (first === undefined || recent.length < COUNTED || now - first.at > WITHIN_MILLIS) return false;
  return recent.filter(({ failed }) => failed).length * 2 >= COUNTED;
}

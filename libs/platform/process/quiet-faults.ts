import type { Clock } from '../time/clock.js';

export type OnFault = (what: string, error: unknown) => void;

const QUIET_NANOS = 10_000_000_000n;

/** Reports a lasting fault once, and then only now and then: what is tried five times a second fails as often. */
export function quietly(onFault: OnFault, clock: Clock): OnFault {
  const reported = new Map<string, { readonly text: string; readonly at: bigint }>();
  return (what, error) => {
    const text = String(error);
    const last = reported.get(what);
    const now = clock.monotonicNanos();
    if (last?.text === text && now - last.at < QUIET_NANOS) return;
    reported.set(what, { text, at: now });
    onFault(what, error);
  };
}

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { afterCall, breakerState, CLOSED_BREAKER, halfOpenAt, type Breaker } from './breakers.js';

interface Call {
  readonly at: number;
  readonly failed: boolean;
}

const anyCalls: fc.Arbitrary<Call[]> = fc
  .array(fc.record({ after: fc.integer({ min: 0, max: 4_000 }), failed: fc.boolean() }), { maxLength: 120 })
  .map((steps) => {
    let at = 0;
    return steps.map(({ after, failed }) => {
      at += after;
      return { at, failed };
    });
  });

/** The rule as the contract states it, computed from all calls. Slow, but simple. */
function statesOf(calls: readonly Call[]): string[] {
  let counted: Call[] = [];
  let openedAt: number | undefined;
  return calls.map((call) => {
    if (openedAt !== undefined && call.at < openedAt + 30_000) return 'open';
    if (openedAt !== undefined) {
      counted = [];
      openedAt = call.failed ? call.at : undefined;
      return call.failed ? 'open' : 'closed';
    }
    counted.push(call);
    const last = counted.slice(-20);
    const isFull = last.length === 20 && last.every(({ at }) => call.at - at <= 30_000);
    if (!isFull || last.filter(({ failed }) => failed).length < 10) return 'closed';
    counted = [];
    openedAt = call.at;
    return 'open';
  });
}

function run(calls: readonly Call[]): { breaker: Breaker; states: string[] } {
  let breaker = CLOSED_BREAKER;
  const states = calls.map((call) => {
    breaker = afterCall(breaker, call);
    return breakerState(breaker, call.at);
  });
  return { breaker, states };
}

describe('a breaker', () => {
  it('opens, half-opens and closes by the rule for any series of calls', () => {
    fc.assert(fc.property(anyCalls, (calls) => expect(run(calls).states).toEqual(statesOf(calls))));
  });

  it('remembers at most 20 calls', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => expect(run(calls).breaker.recent.length).toBeLessThanOrEqual(20)),
    );
  });

  it('is open for 30 s after half of 20 calls failed, and then lets one order through', () => {
    const calls = Array.from({ length: 20 }, (_, at) => ({ at, failed: at % 2 === 0 }));
    const { breaker } = run(calls);
    expect(halfOpenAt(breaker)).toBe(30_019);
    expect(breakerState(breaker, 30_018)).toBe('open');
    expect(breakerState(breaker, 30_019)).toBe('half_open');
    expect(breakerState(afterCall(breaker, { at: 30_020, failed: false }), 30_020)).toBe('closed');
    expect(breakerState(afterCall(breaker, { at: 30_020, failed: true }), 60_019)).toBe('open');
  });
});

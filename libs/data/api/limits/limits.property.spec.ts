import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { DataCaller } from '../callers.js';
import { CallLimits } from './call-limits.js';
import { CallWindow, WINDOW } from './call-window.js';
import { limitChangesIn, LimitRules } from './limit-rules.js';

const TRADES = { method: 'GET', path: '/trades/history', access: 'session' } as const;
const user = new DataCaller({ userId: 'u', kind: 'session', isInvited: true });

describe('a window', () => {
  it('counts the same as a list of all moments', () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 9_000 }),
      calls: fc.integer({ min: 1, max: 3 }),
      age: fc.integer({ min: 0, max: 70_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (steps, most) => {
        const window = new CallWindow();
        const all: number[] = [];
        let now = 1_000_000;
        for (const { wait, calls, age } of steps) {
          now += wait;
          window.add(now - age, calls);
          for (let call = 0; call < calls; call += 1) all.push(now - age);
          const left = all.filter((at) => at > now - WINDOW).sort((one, other) => one - other);
          expect(window.callsAt(now)).toBe(left.length);
          expect(window.freesAt).toBe(left[0] === undefined ? undefined : left[0] + WINDOW);
          // As many must leave as are over the limit.
          const last = left[left.length - most];
          expect(window.admitsAt(most, now)).toBe(last === undefined ? now : last + WINDOW);
        }
      }),
    );
  });

  it('stores few entries for many calls, and drops none too early', () => {
    const window = new CallWindow();
    for (let call = 0; call < 50_000; call += 1) window.add(call, 1);
    expect(window.callsAt(49_999)).toBe(50_000);
    expect(window.callsAt(WINDOW + 30_000)).toBeGreaterThanOrEqual(19_999);
    expect(window.callsAt(WINDOW + 30_000)).toBeLessThan(20_200);
    expect(window.callsAt(WINDOW + 49_999)).toBe(0);
  });
});

describe('a limit', () => {
  it('slides: a refused call does not count, and is told when to retry', () => {
    const clock = new MovableClock();
    clock.stopAtEpoch(1_900_000_000_250_000_000n);
    const limits = new CallLimits(new LimitRules(limitChangesIn('/trades/history=3') ?? new Map()), clock);
    const call = () => limits.count(TRADES, user, 'a');
    expect(call()).toEqual({ limit: 3, remaining: 2, resetsAt: 1_900_000_061 });
    clock.leap(20_000);
    expect(call()).toEqual({ limit: 3, remaining: 1, resetsAt: 1_900_000_061 });
    expect(call()).toEqual({ limit: 3, remaining: 0, resetsAt: 1_900_000_061 });
    clock.leap(9_600);
    for (let time = 0; time < 3; time += 1) {
      expect(call()).toEqual({ limit: 3, remaining: 0, resetsAt: 1_900_000_061, retryAfter: 31 });
    }
    clock.leap(30_399);
    expect(call()).toMatchObject({ retryAfter: 1 });
    clock.leap(1);
    expect(call()).toEqual({ limit: 3, remaining: 0, resetsAt: 1_900_000_081 });
    clock.forgetTimers();
  });

  it('counts for the caller, and without one for the address', () => {
    const limits = new CallLimits(
      new LimitRules(limitChangesIn('v1=1,candles=1,/trades/history=1') ?? new Map()),
      new MovableClock(),
    );
    const remaining = (path: string, caller: DataCaller | undefined, address: string): number | undefined => {
      const window = limits.count({ method: 'GET', path, access: 'public' }, caller, address);
      return window?.retryAfter === undefined ? window?.remaining : -1;
    };
    const operator = new DataCaller({ userId: '', kind: 'admin', isInvited: true });
    expect(remaining('/candles', user, 'a')).toBe(0);
    expect(remaining('/candles/batch', user, 'b')).toBe(-1);
    expect(remaining('/candles/batch', operator, 'b')).toBe(0);
    expect(remaining('/candles', operator, 'b')).toBe(-1);
    expect(remaining('/candles', operator, '::ffff:10.0.0.1')).toBe(0);
    expect(remaining('/candles', operator, '10.0.0.1')).toBe(-1);
    expect(remaining('/v1/marks', undefined, 'a')).toBe(0);
    expect(remaining('/v1/books', undefined, 'a')).toBe(-1);
    expect(remaining('/v1/books', user, 'a')).toBe(9);
    expect(remaining('/trades/history', user, 'a')).toBe(0);
    expect(remaining('/trades/metrics', user, 'a')).toBe(99);
    expect(remaining('/health', undefined, 'a')).toBeUndefined();
  });

  it.each([
    ['GET', '/candles', 200, 200],
    ['POST', '/candles/batch', 200, 200],
    ['GET', '/v1/candles', 60, 600],
    ['GET', '/markets/active', 200, 200],
    ['GET', '/search/simple', 60, 60],
    ['GET', '/top-holders', 10, 10],
    ['POST', '/markets/batch-prices', 200, 200],
    ['POST', '/markets/details', 100, 100],
    ['GET', '/providers/configs/:provider_id', 100, 100],
    ['GET', '/markets/tick-size', undefined, undefined],
  ] as const)('of %s %s is %s, and %s with a credential', (method, path, anonymous, known) => {
    const rules = new LimitRules();
    expect(rules.of({ method, path }, false)?.calls).toBe(anonymous);
    expect(rules.of({ method, path }, true)?.calls).toBe(known);
  });

  it('is what operators set, times the factor', () => {
    const changes = limitChangesIn('v1=5, /providers/configs/{id}=7,/candles=3') ?? new Map<string, number>();
    const rules = new LimitRules(changes, 10);
    expect(rules.of({ method: 'GET', path: '/v1/marks' }, true)?.calls).toBe(500);
    expect(rules.of({ method: 'GET', path: '/providers/configs/:provider_id' }, false)?.calls).toBe(70);
    expect(rules.of({ method: 'GET', path: '/candles' }, false)).toEqual({ name: 'GET /candles', calls: 30 });
    expect(rules.of({ method: 'POST', path: '/candles/batch' }, false)).toEqual({
      name: 'candles',
      calls: 2_000,
    });
    expect(rules.unknownNames([{ method: 'GET', path: '/candles' }])).toEqual(['/providers/configs/{id}']);
  });

  it.each(['', 'v1', 'v1=0', 'v1=1.5', 'v1=1,v1=2', 'v1=-1', 'v1=1,', 'a b=1'])(
    'cannot be parsed from %j',
    (text) => {
      expect(limitChangesIn(text)).toBeUndefined();
    },
  );
});

import { describe, expect, it } from '@jest/globals';
import type { Impediment } from '#libs/shard/conditions/conditions.js';
import { pauseOf } from './command-admission.js';

const ALWAYS = ['withdraw', 'withdraw_all', 'cancel'] as const;

function conditions(impediment: Impediment | undefined, isSound = impediment !== 'CLOCK') {
  return { impediment: () => impediment, clock: { isSound: () => isSound } };
}

describe('a create', () => {
  it.each([
    ['DRAINING', 'auction_owner_unavailable'],
    ['CLOCK', 'clock_unhealthy'],
    ['JOURNAL_FULL', 'journal_capacity_unhealthy'],
    ['JOURNAL_ROOM_UNKNOWN', 'auction_owner_unavailable'],
    ['PROJECTION_LAG', 'projection_backlog'],
  ] as const)('is refused under %s with %s', (impediment, error) => {
    expect(pauseOf(conditions(impediment), 'create')).toEqual({
      status: 503,
      body: JSON.stringify({ error }),
    });
    for (const op of ALWAYS) expect(pauseOf(conditions(impediment), op)).toBeUndefined();
  });

  it('is accepted if nothing is wrong', () => {
    expect(pauseOf(conditions(undefined), 'create')).toBeUndefined();
  });
});

describe.each(['submit', 'revise'] as const)('%s', (op) => {
  it('needs a sound clock, and nothing else', () => {
    expect(pauseOf(conditions('CLOCK'), op)?.body).toBe('{"error":"clock_unhealthy"}');
    expect(pauseOf(conditions('DRAINING', false), op)?.body).toBe('{"error":"clock_unhealthy"}');
    for (const impediment of ['DRAINING', 'JOURNAL_FULL', 'PROJECTION_LAG'] as const) {
      expect(pauseOf(conditions(impediment), op)).toBeUndefined();
    }
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Trial } from '../campaign/trials.js';
import type { SimulationOutcome } from '../simulation.js';
import { draw, type Plan } from './draw.js';
import { shrink } from './shrink.js';

const SOUND: SimulationOutcome = {
  seed: 1,
  violation: undefined,
  digest: '',
  steps: 0,
  simulatedMillis: 0,
  coverage: {},
  lines: [],
};

/** A world that breaks its promise if both keys are present. */
function trialOf(plan: Plan, keys: readonly string[]): Trial {
  const live = (lived: Plan, { keepsTrace = false } = {}): Promise<SimulationOutcome> => {
    const met = lived.incidents.flatMap((one) => (one.kind === 'DEED' ? [one.key] : []));
    const breaks = keys.every((key) => met.includes(key));
    const violation = { check: 'a promise', what: 'it is broken' };
    return Promise.resolve({
      ...SOUND,
      ...(breaks ? { violation } : {}),
      lines: keepsTrace ? met : [],
    });
  };
  return { plan, live, simpler: [{ gateways: 1 }, { incidents: [] }] };
}

describe('a trial that fails', () => {
  it('is shrunk to its smallest form, and reported', async () => {
    const { plan, outcome } = await shrink(trialOf({ ...draw(2), gateways: 2 }, ['k3', 'k11']), 'a promise');
    expect(outcome.violation?.check).toBe('a promise');
    expect([...outcome.lines].sort()).toEqual(['k11', 'k3']);
    expect([plan.incidents.length, plan.gateways]).toEqual([2, 1]);
  });

  it('is left unchanged if no part of it breaks that promise', async () => {
    const drawn = draw(2);
    const { plan, outcome } = await shrink(trialOf(drawn, ['k3']), 'another promise');
    expect(plan.incidents).toEqual(drawn.incidents);
    expect(outcome.violation?.check).toBe('a promise');
  });
});

import { expect, it } from '@jest/globals';
import { Random } from '../../simulator/kernel/random.js';
import { runOrdersCampaign } from './orders-campaign.js';
import { STRIKES } from './strikes.js';

const SEEDS = [1, 2, 3];
const WITHIN_MS = 900_000;
const STOPPED = ['cell', 'executor', 'signer', 'practice', 'projector', 'postgres'];

it(
  'a process that pauses for a while, at rest and under load, goes on with true orders',
  async () => {
    const faults = STOPPED.map((name) => `stop:${name}`);
    const { wrong, logs } = await runOrdersCampaign({ seed: 34, faults, answersBetween: 60 });
    expect([wrong, logs]).toEqual([[], '']);
  },
  WITHIN_MS,
);

it.each(SEEDS)(
  'all kinds of faults, in an order by seed, leave every order true (seed %i)',
  async (seed) => {
    const faults = new Random(`faults/${seed}`).shuffled(Object.keys(STRIKES));
    const { wrong, orders, fills, logs } = await runOrdersCampaign({ seed, faults, answersBetween: 30 });
    expect([wrong, logs]).toEqual([[], '']);
    expect(orders).toBeGreaterThan(300);
    expect(fills).toBeGreaterThan(100);
  },
  WITHIN_MS,
);

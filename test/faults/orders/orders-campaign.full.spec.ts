import { expect, it } from '@jest/globals';
import { Random } from '../../simulator/kernel/random.js';
import { runOrdersCampaign } from './orders-campaign.js';
import { STRIKES } from './strikes.js';

const SEEDS = [1, 2, 3];
const WITHIN_MS = 900_000;

it.each(SEEDS)(
  'every kind of fault, in an order of its own, leaves every order true (seed %i)',
  async (seed) => {
    const faults = new Random(`faults/${seed}`).shuffled(Object.keys(STRIKES));
    const { wrong, orders, fills, logs } = await runOrdersCampaign({ seed, faults, answersBetween: 30 });
    expect([wrong, logs]).toEqual([[], '']);
    expect(orders).toBeGreaterThan(300);
    expect(fills).toBeGreaterThan(100);
  },
  WITHIN_MS,
);

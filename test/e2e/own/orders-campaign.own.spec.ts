import { expect, it } from '@jest/globals';
import { runOrdersCampaign } from '../../faults/orders/orders-campaign.js';

const SEED = 33;
/** One of each kind: a process dies while it sends or before it answers, and venues mistreat calls. */
const FAULTS = [
  'drop_reply:submit',
  'kill-in-the-middle:executor',
  'duplicate_fill',
  'unreadable:cancel',
  'drop_request:cancel',
  'lost-on-the-way',
  'kill:practice',
  'drop_request:submit',
  'kill-in-the-middle:cell',
  'drop_reply:amend',
  'disconnect',
];
const WITHIN_MS = 300_000;

it(
  'every order ends as at the venue and every fill is booked once, whatever dies or goes unanswered in between',
  async () => {
    const { wrong, orders, fills, logs } = await runOrdersCampaign({
      ...{ seed: SEED, faults: FAULTS, answersBetween: 40 },
    });
    expect([wrong, logs]).toEqual([[], '']);
    expect(orders).toBeGreaterThan(50);
    expect(fills).toBeGreaterThan(20);
  },
  WITHIN_MS,
);

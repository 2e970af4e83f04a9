import { describe, expect, it } from '@jest/globals';
import { wantedTerms } from '#libs/testing/cells/orders.js';
import type { CellEvent } from '../rules/events.js';
import { ONE } from '../rules/micros.js';
import { decodeCellEvent, encodeCellEvent, MalformedCellEvent, UnknownCellEvent } from './event-codec.js';

const AT = '2026-11-28T12:00:00.123456789Z';
const OF = { at: AT, user_id: 'ann', order_id: 'o' } as const;
const EVENTS: readonly CellEvent[] = [
  { ...OF, type: 'ORDER_ACCEPTED', terms: { ...wantedTerms('ann'), order_id: 'o' } },
  {
    ...{ ...OF, type: 'SUBMISSION_STARTED', attempt: 1, venue_client_id: 'o' },
    sent: { quantity: 10n * ONE, price: 9_007_199_254_740_993n },
  },
  { ...OF, type: 'ORDER_PLACED', exchange_order_id: 'x' },
];

describe('the journal of a cell', () => {
  it('decodes each event to what was encoded, with exact bigints', () => {
    for (const event of EVENTS) expect(decodeCellEvent(encodeCellEvent(event))).toEqual(event);
  });

  it.each([
    ['{"version":2,"type":"ORDER_PLACED"}', UnknownCellEvent],
    ['{"version":1,"type":"ORDER_EATEN"}', UnknownCellEvent],
    ['{"version":1,"type":"ORDER_PLACED","at":"x","user_id":"u","order_id":"o"}', MalformedCellEvent],
    ['null', MalformedCellEvent],
  ])('refuses to decode %s', (text, fault) => {
    expect(() => decodeCellEvent(text)).toThrow(fault);
  });
});

import { expect, it } from '@jest/globals';
import { fillId } from './fill-id.js';

// The expected values come from Python's uuid.uuid5.
it('a fill id is the UUIDv5 of venue, trade, order and leg', () => {
  expect(fillId('venue_b', { venue_trade_id: 'trade-1', exchange_order_id: 'order-1' })).toBe(
    '3ed912e5-8c6a-552d-b080-7e6d6f35d869',
  );
  const fill = { venue_trade_id: '118906512037719', exchange_order_id: '51' };
  expect(fillId('venue_e', fill)).toBe('d417b2d1-14bf-5825-95fb-7407563abb22');
  expect(fillId('venue_e', { ...fill, leg: 1 })).toBe('0519a7d5-7d55-50d3-a5d9-345b1ae1807e');
});

it('a trade that fills two orders has two fill ids', () => {
  const [maker, taker] = ['1', '2'].map((order) =>
    fillId('venue_b', { venue_trade_id: 'one', exchange_order_id: order }),
  );
  expect(maker).not.toBe(taker);
});

import { expect, it } from '@jest/globals';
import { MISMATCH } from '#libs/edge/decoding/decode.js';
import { haltBody } from './operator-bodies.js';

it('refuses a target that the database cannot look up', () => {
  const halt = { scope: 'VENUE', what: ['QUOTE'], reason: 'x' };
  expect(haltBody.decode({ ...halt, target: 'venue_a' })).not.toBe(MISMATCH);
  expect(haltBody.decode({ ...halt, target: '\u0000' })).toBe(MISMATCH);
});

import { expect, it } from '@jest/globals';
import { MISMATCH } from '#libs/edge/decoding/decode.js';
import { shardId, shardUuid } from './stream-limits.js';

const ID = '0f6b2f4e-3c1d-8a2b-9c3d-4e5f60718293';

it.each(['0', '1', '2'])('an id whose first digit is shard %s is accepted', (shard) => {
  const id = ID.replace('0', shard);
  expect(shardId.decode(id)).toBe(id);
  expect(shardUuid('invalid_auction_id').accepts(id)).toBe(true);
});

it.each([ID.replace('0', '3'), ID.replace('0', 'a'), ID.toUpperCase(), `${ID} `, ''])(
  '%j is refused',
  (id) => {
    expect(shardId.decode(id)).toBe(MISMATCH);
    expect(shardUuid('invalid_auction_id').accepts(id)).toBe(false);
  },
);

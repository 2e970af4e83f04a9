import { describe, expect, it } from '@jest/globals';
import { object } from '#libs/edge/decoding/decode.js';
import { text } from '#libs/edge/decoding/decode-scalars.js';
import { SealedCursors } from './cursors.js';
import { RefusedRead } from './refusals.js';

const cursors = new SealedCursors('5e'.repeat(32));
const position = object({ required: { after: text() } });
const filters = { provider: 'venue_a', ids: ['a', 'b'], sort: undefined };
const cursor = cursors.seal('/markets/active', filters, { after: 'm-1' });

function opened(route: string, changedFilters: typeof filters | object, text: string): string {
  try {
    return cursors.open(route, { ...changedFilters }, text, position).after;
  } catch (error) {
    return error instanceof RefusedRead ? JSON.stringify(error.reply) : String(error);
  }
}
const BAD = '{"status":400,"body":{"detail":"Invalid or expired cursor"}}';

describe('a cursor', () => {
  it('is accepted for its route and filters in any order, by any replica', () => {
    const reordered = { ids: ['a', 'b'], provider: 'venue_a' };
    expect(opened('/markets/active', reordered, cursor)).toBe('m-1');
    expect(new SealedCursors('5e'.repeat(32)).seal('/markets/active', filters, { after: 'm-1' })).toBe(
      cursor,
    );
  });

  it.each([
    ['another route', '/v1/markets', filters, cursor],
    ['another filter', '/markets/active', { ...filters, provider: 'venue_b' }, cursor],
    ['one filter more', '/markets/active', { ...filters, sort: 'x' }, cursor],
    ['a list that was split differently', '/markets/active', { ...filters, ids: ['a,b'] }, cursor],
    ['other text', '/markets/active', filters, 'garbage'],
    ['nothing', '/markets/active', filters, ''],
    ['padding', '/markets/active', filters, `${cursor}=`],
    ['a part', '/markets/active', filters, cursor.slice(0, -4)],
    [
      'another position',
      '/markets/active',
      filters,
      cursors.seal('/markets/active', filters, { before: 'm-1' }),
    ],
  ])('is refused with %s', (_what, route, changedFilters, text) => {
    expect(opened(route, changedFilters, text)).toBe(BAD);
  });

  it('is refused if any byte is changed', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (const [index, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[index] = byte ^ 1;
      expect(opened('/markets/active', filters, changed.toString('base64url'))).toBe(BAD);
    }
  });

  it('from another deployment is refused', () => {
    const foreign = new SealedCursors('6e'.repeat(32)).seal('/markets/active', filters, { after: 'm-1' });
    expect(opened('/markets/active', filters, foreign)).toBe(BAD);
  });
});

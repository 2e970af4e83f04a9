import { describe, expect, it } from '@jest/globals';
import { PlainValues } from './plain-values.js';

const at = (second: string): string => `2027-01-05T08:30:${second}Z`;
const run = (id: string, second: string): object => ({
  auction_id: id,
  text: `auction ${id}`,
  opened_at: at(`${second}.000000123`),
  closes_at: at(`${second}.250000123`),
  next_cursor: Buffer.from(JSON.stringify({ o: at(`${second}.000000123`), i: id })).toString('base64url'),
  access_token: `eyJhbGciOiJSUzI1NiJ9.${id.replaceAll('-', '')}.c2ln`,
  quantity_atoms: 7,
});

describe('plain values', () => {
  const one = new PlainValues().of(run('1a2b3c4d-1111-8222-9333-444455556666', '01'));

  it('are the same in every run', () => {
    expect(new PlainValues().of(run('1f0e0d0c-9999-8aaa-9bbb-ccccddddeeee', '42'))).toEqual(one);
  });

  it('keep the shard and the version of an id, the distance between instants, and whatever else there is', () => {
    expect(one).toMatchObject({
      auction_id: expect.stringMatching(
        /^1[0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-9[0-9a-f]{3}-[0-9a-f]{12}$/,
      ) as unknown,
      opened_at: '2026-11-20T12:00:00.000000000Z',
      closes_at: '2026-11-20T12:00:00.250000000Z',
      quantity_atoms: 7,
    });
  });

  it('give an id the same name wherever it stands', () => {
    const { auction_id: id, text, next_cursor: cursor } = one as Record<string, string>;
    expect(text).toBe(`auction ${id ?? ''}`);
    expect(JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString())).toMatchObject({ i: id });
  });
});

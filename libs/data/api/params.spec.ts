import { describe, expect, it } from '@jest/globals';
import { MISMATCH } from '#libs/edge/decoding/decode.js';
import { Reading } from '#libs/edge/decoding/reading.js';
import { cursorParam, dataQuery, listParam, optional, refusedIn, required, withDefault } from './params.js';
import { boolean, id, integer, providerName, time, unixTime, word } from './text-kinds.js';

const rules = dataQuery({
  provider: required(providerName()),
  ids: listParam(id, { min: 1, max: 3 }),
  limit: withDefault(integer(1, 250), 100),
  rebuild: withDefault(boolean, false),
  start: optional(time),
  before: optional(unixTime),
  order: optional(word(['asc', 'desc'])),
  cursor: cursorParam(),
});

function read(raw: string): object {
  const reading = new Reading();
  const values = rules.read(raw, reading);
  if (values !== MISMATCH) return { ...values, refused: refusedIn(values) };
  return reading.locations.map(({ path, why }) => [path.join('.'), why?.type, why?.input].join(' '));
}

describe('a query', () => {
  it('reads lists that are repeated, comma-separated, or named with brackets', () => {
    for (const raw of ['ids=a,b&ids=c', 'ids[]=a&ids%5B%5D=b,c', 'ids=a&ids[]=b&ids=c']) {
      expect(read(`provider=venue_a&${raw}`)).toMatchObject({ ids: ['a', 'b', 'c'] });
    }
  });

  it('reads provider names trimmed and in any case, and refuses others after everything is read', () => {
    expect(read('ids=a&provider=%20VENUE_A+')).toMatchObject({ provider: 'venue_a', refused: undefined });
    for (const raw of [' x ', 'venue_f', '2', '']) {
      expect(read(`ids=a&provider=${encodeURIComponent(raw)}`)).toMatchObject({
        refused: `Unknown provider: ${raw}`,
      });
    }
    expect(read('provider=x&ids=a&limit=0')).toEqual(['limit greater_than_equal 0']);
  });

  it('has defaults, and ignores unknown parameters, even broken ones', () => {
    expect(read('provider=venue_e&ids=a&x=1&x=2&%zz=%zz&limit[]=5')).toEqual({
      ...{ provider: 'venue_e', ids: ['a'], limit: 100, rebuild: false, start: undefined, before: undefined },
      ...{ order: undefined, cursor: undefined, refused: undefined },
    });
  });

  it.each([
    ['limit=007', { limit: 7 }],
    ['rebuild=TRUE', { rebuild: true }],
    ['rebuild=0', { rebuild: false }],
    ['start=2026-01-01T00:00:00', { start: 1_767_225_600_000_000 }],
    ['start=2026-01-01T02:00:00+02:00', { start: 1_767_225_600_000_000 }],
    ['start=2026-01-01T02:00:00%2B02:00', { start: 1_767_225_600_000_000 }],
    ['before=1.5', { before: 1_500_000 }],
    ['cursor=', { cursor: undefined }],
  ])('reads %s', (raw, values) => {
    expect(read(`provider=venue_a&ids=a&${raw}`)).toMatchObject(values);
  });

  it.each([
    ['limit=2&limit=2', 'limit repeated 2,2'],
    ['limit=', 'limit int_parsing '],
    ['limit=+5', 'limit int_parsing  5'],
    ['limit=5.0', 'limit int_parsing 5.0'],
    ['limit=-1', 'limit greater_than_equal -1'],
    ['limit=99999999999999999999', 'limit less_than_equal 99999999999999999999'],
    ['limit=%zz', 'limit percent_encoding '],
    ['rebuild=yes', 'rebuild bool_parsing yes'],
    ['start=tomorrow', 'start datetime_parsing tomorrow'],
    ['before=-1', 'before float_parsing -1'],
    ['order=ASC', 'order literal_error ASC'],
    ['ids=b,c,d', 'ids too_long '],
    ['ids=,', 'ids.1 string_too_short '],
    [`ids=${'x'.repeat(129)}`, `ids.1 string_too_long ${'x'.repeat(129)}`],
    [`cursor=${'x'.repeat(513)}`, `cursor string_too_long ${'x'.repeat(513)}`],
  ])('refuses %s', (raw, fault) => {
    expect(read(`provider=venue_a&ids=a&${raw}`)).toEqual([fault]);
  });

  it('reports all faults', () => {
    expect(read('limit=0')).toEqual(['provider missing ', 'ids missing ', 'limit greater_than_equal 0']);
  });
});

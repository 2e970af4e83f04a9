import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ceilTo, floorTo, isoTime, microsOfTime, microsOfUnixSeconds, unixSeconds } from './times.js';

const LAST_EXACT = Number.MAX_SAFE_INTEGER;
const anyTime = fc.oneof(
  fc.integer({ min: 0, max: 4_000_000_000_000_000 }),
  fc.integer({ min: -LAST_EXACT, max: LAST_EXACT }),
);

/** The reference adds up days, year by year and month by month. */
function slowMicros(text: string): bigint {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)\.?(\d*)Z$/.exec(text) ?? [];
  const isLeap = (one: number): boolean => one % 4 === 0 && (one % 100 !== 0 || one % 400 === 0);
  let days = Number(day) - 1;
  for (let one = 1970; one < Number(year); one += 1) days += isLeap(one) ? 366 : 365;
  for (let one = Number(year); one < 1970; one += 1) days -= isLeap(one) ? 366 : 365;
  const months = [31, isLeap(Number(year)) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  for (const length of months.slice(0, Number(month) - 1)) days += length;
  const seconds = ((days * 24 + Number(hour)) * 60 + Number(minute)) * 60 + Number(second);
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

describe('times', () => {
  it('are written with Z and only as many decimals as needed, and read back', () => {
    fc.assert(
      fc.property(anyTime, (micros) => {
        const text = isoTime(micros);
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,5}[1-9])?Z$/);
        expect(slowMicros(text)).toBe(BigInt(micros));
        expect(microsOfTime(text)).toBe(micros);
      }),
    );
    expect(isoTime(0)).toBe('1970-01-01T00:00:00Z');
    expect(isoTime(1_795_176_000_120_000)).toBe('2026-11-20T12:00:00.12Z');
    expect(isoTime(-1)).toBe('1969-12-31T23:59:59.999999Z');
  });

  it('are equal with any offset, and UTC without one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000_000_000_000_000 }),
        fc.integer({ min: -23 * 60, max: 23 * 60 }),
        fc.constantFrom(':', ''),
        fc.constantFrom('T', ' ', 't'),
        (micros, offset, colon, separator) => {
          const local = isoTime(micros + offset * 60_000_000).slice(0, -1);
          const minutes = Math.abs(offset);
          const pair = (value: number): string => String(value).padStart(2, '0');
          const zone = `${offset < 0 ? '-' : '+'}${pair(Math.floor(minutes / 60))}${colon}${pair(minutes % 60)}`;
          expect(microsOfTime(local.replace('T', separator) + zone)).toBe(micros);
          expect(microsOfTime(local)).toBe(micros + offset * 60_000_000);
        },
      ),
    );
  });

  it.each([
    ['2026-11-20', '2026-11-20T00:00:00Z'],
    ['2026-11-20T12:30', '2026-11-20T12:30:00Z'],
    ['2026-11-20T12:30:15+05', '2026-11-20T07:30:15Z'],
    ['2024-02-29', '2024-02-29T00:00:00Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['0050-06-01', '0050-06-01T00:00:00Z'],
  ])('written %s are %s', (text, time) => {
    const micros = microsOfTime(text);
    expect(micros === undefined ? undefined : isoTime(micros)).toBe(time);
  });

  it.each([
    '',
    'now',
    '2026',
    '2026-11',
    '2026-13-01',
    '2026-00-01',
    '2025-02-29',
    '2026-11-31',
    '2026-11-20T24:00:00Z',
    '2026-11-20T12:60:00Z',
    '2026-11-20T12:00:60Z',
    '2026-11-20T12:00:00.1234567Z',
    '2026-11-20T12:00:00.Z',
    '2026-11-20T12:00:00+05:',
    '2026-11-20T12:00:00+24:00',
    '2026-11-20T12:00:00 05:00',
    '2026-11-20Z',
    '1795176000',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
    '2026-11-20T12:00:00Z\n',
  ])('do not include %j', (text) => {
    expect(microsOfTime(text)).toBeUndefined();
  });

  it('need a zone if one is required', () => {
    expect(microsOfTime('2026-11-20T12:00:00', 'required')).toBeUndefined();
    expect(microsOfTime('2026-11-20', 'required')).toBeUndefined();
    expect(microsOfTime('2026-11-20T12:00:00+00:00', 'required')).toBe(1_795_176_000_000_000);
  });
});

describe('unix seconds', () => {
  it('are written and read back exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000_000_000 }), (micros) => {
        expect(JSON.stringify(unixSeconds(micros))).toMatch(/^\d+(\.\d{1,6})?$/);
        expect(microsOfUnixSeconds(JSON.stringify(unixSeconds(micros)))).toBe(micros);
      }),
    );
  });

  it('with more decimals become the next microsecond, so that the same times lie before them', () => {
    expect(microsOfUnixSeconds('1.0000001')).toBe(1_000_001);
    expect(microsOfUnixSeconds('1.0000010000')).toBe(1_000_001);
    for (const text of ['-1', '', '1e9', '1.', 'NaN', '1234567890123']) {
      expect(microsOfUnixSeconds(text)).toBeUndefined();
    }
  });
});

it('multiples of a span are found for any time, also before 1970', () => {
  fc.assert(
    fc.property(anyTime, fc.constantFrom(1_000_000, 60_000_000, 86_400_000_000), (micros, span) => {
      const [floor, ceil] = [floorTo(micros, span), ceilTo(micros, span)];
      const rest = ((BigInt(micros) % BigInt(span)) + BigInt(span)) % BigInt(span);
      expect(BigInt(floor)).toBe(BigInt(micros) - rest);
      expect(BigInt(ceil)).toBe(rest === 0n ? BigInt(micros) : BigInt(floor) + BigInt(span));
      expect(Object.is(floor, -0) || Object.is(ceil, -0)).toBe(false);
    }),
  );
});

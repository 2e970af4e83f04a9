import { beforeEach, expect, it } from '@jest/globals';
import { instantFromNanos } from '#libs/auction/instant.js';
import { BEGINNING } from '../kernel/sim-clock.js';
import { Tables } from '../storage/tables.js';
import { ProtectionBounds } from './protection-bounds.js';

const FROZEN_MILLIS = 4_000;
let tables: Tables;
let now: number;
let tripped: string[];

function bounds(isCalm = true): ProtectionBounds {
  return new ProtectionBounds(
    tables,
    () => now,
    isCalm,
    (by) => tripped.push(by),
  );
}

function instant(millis: number): string {
  return instantFromNanos(BEGINNING + BigInt(millis) * 1_000_000n);
}

/** Mia wins so much at a half. */
function won(watch: ProtectionBounds, millis: number, quantity = 1_000_000): void {
  now = millis;
  const award = { maker: 'mia', price_atoms: 500_000, quantity_atoms: quantity };
  const awards = [{ ...award, award_id: '', quote_id: '', maker_hold: [], originator_hold: [] }];
  watch.take({
    shard: 0,
    sequence: 1,
    event: { type: 'AUCTION_AWARDED', at: instant(millis), data: { awards } },
  });
}

function frozen(watch: ProtectionBounds, sinceMillis: number): void {
  tables.frozen.rows.set('mia', instant(sinceMillis + FROZEN_MILLIS));
  watch.onCommit();
}

beforeEach(() => {
  tables = new Tables();
  tripped = [];
  tables.protection.rows.set('mia', {
    window_ms: 3_000,
    max_awards: 2,
    max_award_notional_atoms: 5_000_000,
    frozen_ms: FROZEN_MILLIS,
  });
});

it('wants protection to trip with the award that reaches a bound', () => {
  const watch = bounds();
  won(watch, 1_000);
  now = 1_900;
  watch.checkAtRest();
  won(watch, 2_000);
  now = 2_201;
  expect(() => watch.checkAtRest()).toThrow('protection trips with the award that reaches a bound');
});

it('counts what awards are worth, rounded up as it is owed', () => {
  const watch = bounds();
  won(watch, 1_000, 9_999_999);
  frozen(watch, 1_000);
  now = 2_000;
  watch.checkAtRest();
  expect(tripped).toEqual(['NOTIONAL']);
});

it('counts nothing that has left the window', () => {
  const watch = bounds();
  won(watch, 1_000);
  won(watch, 4_000);
  now = 5_000;
  watch.checkAtRest();
  expect(() => frozen(watch, 4_000)).toThrow('no bound of its is reached');
});

it.each([true, false])(
  'wants each trip to be founded, where nothing goes wrong (%s) and elsewhere',
  (isCalm) => {
    expect(() => frozen(bounds(isCalm), 1_000)).toThrow('has won nothing that would be for');
    const watch = bounds(isCalm);
    won(watch, 1_000);
    expect(() => frozen(watch, 1_000)).toThrow('no bound of its is reached');
  },
);

it('lets nobody quote whom its protection keeps away, once each owner has heard of it', () => {
  const watch = bounds();
  won(watch, 1_000);
  won(watch, 1_000);
  frozen(watch, 1_000);
  const quoted = (millis: number) => (): void => {
    const quote = { quote_id: '', maker: 'mia', revision: 1, price_atoms: 1, quantity_atoms: 1 };
    const data = { quote: { ...quote, min_quantity_atoms: 1, hold: [], submitted_at: '' } };
    watch.take({ shard: 0, sequence: 2, event: { type: 'QUOTE_SUBMITTED', at: instant(millis), data } });
  };
  quoted(2_000)();
  expect(quoted(3_000)).toThrow('whom its protection keeps away does not quote');
  quoted(5_001)();
});

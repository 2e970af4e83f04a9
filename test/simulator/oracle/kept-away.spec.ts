import { beforeEach, expect, it } from '@jest/globals';
import { instantFromNanos } from '#libs/base/instant.js';
import { BEGINNING } from '../kernel/sim-clock.js';
import { Tables } from '../storage/tables.js';
import { KeptAway } from './kept-away.js';
import type { PlacedEvent } from './raw-events.js';

let tables: Tables;
let now: number;
let tripped: number;
let watch: KeptAway;

function instant(millis: number): string {
  return instantFromNanos(BEGINNING + BigInt(millis) * 1_000_000n);
}

function quoted(atMillis: number): PlacedEvent {
  now = atMillis;
  const quote = { quote_id: '', maker: 'mia', revision: 1, price_atoms: 1, quantity_atoms: 1 };
  const data = { quote: { ...quote, min_quantity_atoms: 1, hold: [], submitted_at: '' } };
  return { shard: 0, sequence: 1, event: { type: 'QUOTE_SUBMITTED', at: instant(atMillis), data } };
}

beforeEach(() => {
  tables = new Tables();
  now = 1_000;
  tripped = 0;
  watch = new KeptAway(
    tables,
    () => now,
    () => (tripped += 1),
  );
  tables.frozen.rows.set('mia', instant(5_000));
  watch.onCommit();
});

it('counts a tripped protection once', () => {
  watch.onCommit();
  expect(tripped).toBe(1);
  tables.frozen.rows.set('mia', instant(6_000));
  watch.onCommit();
  expect(tripped).toBe(2);
});

it('lets a maker write what was in progress when it was frozen, and quote again after the freeze', () => {
  for (const atMillis of [1_010, 5_001]) watch.mustKeepAway(quoted(atMillis));
  expect(() => watch.mustKeepAway(quoted(3_000))).toThrow(
    'a maker that its protection keeps away does not quote',
  );
});

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import { accessFlag, type FlagSettings } from '../../rules/flags.js';
import { KnownFlags } from './known-flags.js';

const NAME = accessFlag('venue_a');
const setTo = (enabled: boolean): FlagSettings => new Map([[NAME, { enabled, reason: null, updatedAt: 1 }]]);

let clock: MovableClock;
let reads: number;
let answer: () => Promise<FlagSettings>;
let flags: KnownFlags;

beforeEach(() => {
  clock = new MovableClock();
  reads = 0;
  answer = () => Promise.resolve(setTo(true));
  flags = new KnownFlags(
    {
      all: () => {
        reads += 1;
        return answer();
      },
    },
    clock,
  );
});
afterEach(() => {
  clock.forgetTimers();
});

const away = (): Promise<FlagSettings> => Promise.reject(new Error('away'));
const silent = (): Promise<FlagSettings> => new Promise(() => undefined);

async function enabled(): Promise<boolean | undefined> {
  return (await flags.verified())?.get(NAME)?.enabled;
}

it('concurrent callers share one read', async () => {
  await Promise.all([enabled(), enabled(), enabled()]);
  await enabled();
  expect(reads).toBe(1);
});

it('a change by another process takes effect within five seconds', async () => {
  expect(await enabled()).toBe(true);
  answer = () => Promise.resolve(setTo(false));
  clock.leap(5_001);
  expect(await enabled()).toBe(false);
});

it('a busy process reads again every second, and no caller waits for it', async () => {
  await enabled();
  answer = () => Promise.resolve(setTo(false));
  clock.leap(1_001);
  expect(await enabled()).toBe(true);
  await nextTurn();
  expect(await enabled()).toBe(false);
  expect(reads).toBe(2);
});

it('settings of up to five seconds are used while the database is down', async () => {
  await enabled();
  answer = away;
  clock.leap(4_900);
  expect(await enabled()).toBe(true);
  clock.leap(101);
  expect(await enabled()).toBeUndefined();
  answer = () => Promise.resolve(setTo(false));
  expect(await enabled()).toBe(false);
});

it('no caller waits longer than a second', async () => {
  answer = silent;
  const waiting = enabled();
  await nextTurn();
  clock.leap(1_001);
  expect(await waiting).toBeUndefined();
  expect(reads).toBe(1);
});

it('the age of a result counts from the start of its read', async () => {
  let tell: (settings: FlagSettings) => void = () => undefined;
  answer = () => new Promise((resolve) => (tell = resolve));
  void enabled();
  await nextTurn();
  clock.leap(5_001);
  tell(setTo(true));
  await nextTurn();
  answer = away;
  expect(await enabled()).toBeUndefined();
});

it('a change by this process takes effect at once, even if a read was under way', async () => {
  await enabled();
  let tell: (settings: FlagSettings) => void = () => undefined;
  answer = () => new Promise((resolve) => (tell = resolve));
  clock.leap(1_001);
  await enabled();
  answer = () => Promise.resolve(setTo(false));
  clock.leap(1);
  flags.forget();
  const after = enabled();
  tell(setTo(true));
  expect(await after).toBe(false);
});

it('uses that need no certainty go on with the last known settings', async () => {
  answer = away;
  expect((await flags.lastKnown()).size).toBe(0);
  answer = () => Promise.resolve(setTo(false));
  await enabled();
  answer = away;
  clock.leap(60_000);
  expect((await flags.lastKnown()).get(NAME)?.enabled).toBe(false);
});

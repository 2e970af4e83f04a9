import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openDataRoutes, type DataRoutes } from '#libs/testing/data/data-routes.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { accessFlag, activeFlag, type FlagName, type FlagSetting } from '../../rules/flags.js';
import { KnownFlags } from '../flags/known-flags.js';
import { KeyAccess } from '../flags/key-access.js';
import { ProvidersController } from './providers.controller.js';

const clock = new MovableClock();
const settings = new Map<FlagName, FlagSetting>();
let isAway = false;
let routes: DataRoutes;

beforeAll(async () => {
  const all = (): Promise<typeof settings> =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(new Map(settings));
  const flags = new KnownFlags({ all }, clock);
  routes = await openDataRoutes([new ProvidersController({ flags, access: new KeyAccess(flags) })]);
});
beforeEach(() => {
  settings.clear();
  isAway = false;
  clock.leap(5_001);
});
afterAll(async () => {
  await routes.close();
  clock.forgetTimers();
});

const set = (name: FlagName, enabled: boolean): void => {
  settings.set(name, { enabled, reason: null, updatedAt: 1 });
};

it('lists the five venues by id, and may be cached for a minute', async () => {
  const { status, headers, body } = await routes.get('/providers/configs');
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=60']);
  expect(headers.get('etag')).toMatch(/^W\//);
  const ids = ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e'];
  expect(body).toMatchObject({ configs: ids.map((id) => ({ id, is_active: true })), meta: { count: 5 } });
});

it('a provider that an operator switched off is listed as inactive', async () => {
  set(activeFlag('venue_b'), false);
  expect((await routes.get('/providers/configs/venue_b')).body).toMatchObject({
    ...{ id: 'venue_b', display_name: 'Venue B', is_active: false, numeric_id: 1, primary_color: null },
  });
});

it.each([
  ['venue_a', 'venue_a'],
  ['%20VENUE_A%20', 'venue_a'],
])('%s is %s', async (name, id) => {
  expect((await routes.get(`/providers/configs/${name}`)).body).toMatchObject({ id });
});

it.each([
  ['venue_f', 'venue_f'],
  ['%20Nobody%2Fx', ' Nobody/x'],
  ['2', '2'],
])('%s is not found', async (name, raw) => {
  const { status, body } = await routes.get(`/providers/configs/${name}`);
  expect([status, body]).toEqual([404, { detail: `Provider not found: ${raw}` }]);
});

it('lists the providers that keys may read', async () => {
  set(accessFlag('venue_c'), false);
  const { body, headers } = await routes.get('/providers/api-access');
  expect(body).toEqual({ providers: ['venue_a', 'venue_b', 'venue_d', 'venue_e'], meta: { count: 4 } });
  expect(headers.get('cache-control')).toBe('no-store');
});

it('is 503 if the flags cannot be read', async () => {
  await routes.get('/providers/api-access');
  isAway = true;
  clock.leap(5_001);
  const { status, body } = await routes.get('/providers/api-access');
  expect([status, body]).toEqual([503, { detail: 'Unable to verify platform API access' }]);
  expect((await routes.get('/providers/configs')).status).toBe(200);
});

it('operators can have the flags read again at once', async () => {
  await routes.get('/providers/configs');
  set(activeFlag('venue_a'), false);
  const { status, body } = await routes.send('POST', '/providers/configs/reload', undefined, 'admin');
  expect([status, body]).toEqual([200, { reloaded: true, count: 5 }]);
  expect((await routes.get('/providers/configs/venue_a')).body).toMatchObject({ is_active: false });
});

it.each(['key', 'session', undefined] as const)('other callers cannot (%s)', async (caller) => {
  const { status, body } = await routes.send('POST', '/providers/configs/reload', undefined, caller);
  expect([status, body]).toEqual([404, { detail: 'Not Found' }]);
});

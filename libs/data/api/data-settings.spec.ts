import { expect, it } from '@jest/globals';
import { loadConfig, settingsFaults } from '#libs/platform/settings/config.js';
import { dataIsSet, dataSettings, dataSettingsOf } from './data-settings.js';

const SET = { API_KEY_SECRET: '5e'.repeat(32) };

function read(env: Readonly<Record<string, string>> = {}): ReturnType<typeof dataSettingsOf> {
  return dataSettingsOf(loadConfig(dataSettings, { ...SET, ...env }));
}

it('has defaults for all settings except the secret of API keys', () => {
  expect(read()).toEqual({
    ports: { data: 8_100, companion: 8_101, stream: 8_102 },
    ...{ keySecret: SET.API_KEY_SECRET, adminSecrets: [], trustedProxies: [], limitChanges: new Map() },
    ...{ upstreamUrls: {}, upstreamTimeoutMillis: 5_000, snapshotMaxAgeSeconds: 120 },
  });
  const served = { ...loadConfig(dataSettings, {}), SERVES: ['data'] };
  expect(dataIsSet(served)).toBe('API_KEY_SECRET is not set, and SERVES names data');
  expect(dataIsSet({ ...served, SERVES: ['auction'] })).toBeUndefined();
  expect(dataIsSet({ ...loadConfig(dataSettings, { ...SET, MD_PORT: '8100' }), SERVES: ['data'] })).toBe(
    'DATA_PORT, MD_PORT and STREAM_PORT must differ',
  );
});

it('parses lists', () => {
  const [one, other] = ['a'.repeat(16), 'b'.repeat(16)];
  expect(
    read({
      ADMIN_SECRETS: `${one}, ${other}`,
      TRUSTED_PROXIES: '10.0.0.0/8, ::1,fd00::/8',
      DATA_LIMITS: 'candles=500, /trades/venue_a=20',
      ...{ VENUE_A_URL: 'http://127.0.0.1:1', VENUE_D_URL: 'http://127.0.0.1:2', RETENTION_DAYS: '90' },
    }),
  ).toMatchObject({
    ...{ adminSecrets: [one, other], trustedProxies: ['10.0.0.0/8', '::1', 'fd00::/8'], retentionDays: 90 },
    limitChanges: new Map([
      ['candles', 500],
      ['/trades/venue_a', 20],
    ]),
    upstreamUrls: { venue_a: 'http://127.0.0.1:1', venue_d: 'http://127.0.0.1:2' },
  });
});

it.each([
  ['ADMIN_SECRETS', 'short'],
  ['TRUSTED_PROXIES', 'proxy.example'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
  ['TRUSTED_PROXIES', 'fe80::1%eth0'],
  ['DATA_LIMITS', 'candles'],
  ['DATA_LIMITS', 'candles=0'],
  ['SNAPSHOT_MAX_AGE_S', '121'],
  ['UPSTREAM_TIMEOUT_MS', '0'],
])('refuses %s=%s', (name, value) => {
  const [fault = '', ...more] = settingsFaults(dataSettings, { ...SET, [name]: value }, []);
  expect(fault).toContain(name);
  expect(more).toEqual([]);
});

import { expect, it } from '@jest/globals';
import { settingsFaults } from '#libs/platform/settings/config.js';
import { gatewayConfig, gatewayReads, gatewayRules } from './config.js';

const KEY = '0123456789abcdef'.repeat(4);
const COMMON = {
  ...{ DATABASE_URL: 'postgres://x@127.0.0.1/y', SERVICE_TOKEN: KEY, SESSION_KEK: KEY, STREAM_KEYS: KEY },
};
const AUCTION = {
  PORT: '1',
  OWNER_URLS: 'http://127.0.0.1:2,http://127.0.0.1:3,http://127.0.0.1:4',
  ...{ AUDIT_KEY: KEY, AUDIT_SIGNING_KEY: KEY },
};
const EXECUTION = {
  ...{ CELL_URLS: 'http://127.0.0.1:5', CELLS: '1', EXECUTOR_URL: 'http://127.0.0.1:6', API_KEY_SECRET: KEY },
  ...{ VENUES: 'e', VENUE_E_URL: 'http://127.0.0.1:7' },
};

function faults(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return settingsFaults(gatewayConfig, { ...COMMON, ...env }, gatewayRules);
}

it('requires the settings of the services that it serves, and no others', () => {
  expect(faults(AUCTION)).toEqual([]);
  expect(faults({ ...EXECUTION, SERVES: 'execution' })).toEqual([]);
  expect(faults({ ...AUCTION, ...EXECUTION, SERVES: 'auction,execution' })).toEqual([]);
});

it.each(Object.keys(AUCTION))('requires %s when it serves auctions', (name) => {
  expect(faults({ ...AUCTION, [name]: undefined })).toEqual([`${name} is not set, and SERVES names auction`]);
});

it('reads no settings of a service that it does not serve', () => {
  const names = (SERVES?: string): string[] =>
    Object.keys(gatewayReads(SERVES === undefined ? {} : { SERVES }));
  expect(names()).toEqual(names('auction'));
  expect(names('auction')).toEqual(expect.arrayContaining(Object.keys(AUCTION)));
  expect(names('auction').filter((name) => name in EXECUTION)).toEqual([]);
  expect(names('execution').filter((name) => name in AUCTION)).toEqual([]);
  expect(names('auction,execution,data')).toEqual(Object.keys(gatewayConfig));
});

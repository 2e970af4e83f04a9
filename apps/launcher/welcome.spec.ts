import path from 'node:path';
import { expect, it } from '@jest/globals';
import type { StartedCluster } from './cluster.js';
import { demoNames, welcome } from './welcome.js';

const CLUSTER: StartedCluster = {
  gatewayUrls: ['http://127.0.0.1:8085'],
  databaseUrl: 'postgres://postgres:secret@127.0.0.1:5432/sotto',
  seed: { password: 'sotto-demo', users: [], contracts: [] },
};

it.each([
  ['.data', 'npm run demo'],
  ['/var/lib/sotto', 'DATA_DIR=/var/lib/sotto npm run demo'],
  ['/home/me/my data', "DATA_DIR='/home/me/my data' npm run demo"],
])('a cluster in %s prints a demo command that finds it', (folder, advice) => {
  const lines = welcome(CLUSTER, path.resolve(folder)).split('\n');
  expect(lines.map((line) => line.trim())).toContain(advice);
  expect(lines.join()).not.toContain('secret');
});

it('prints commands for order execution where it runs, with a working key', () => {
  const key = {
    name: 'trading',
    client_id: 'c-1',
    api_key: 'k-1',
    api_secret: 's-1',
    scopes: [],
    ip_allow_list: [],
  };
  const users = [{ email: 'trader-1@d', account_id: '1', roles: [], invited: true, api_keys: [key] }];
  const trading = { ...CLUSTER, executionUrl: 'http://127.0.0.1:8090', seed: { ...CLUSTER.seed, users } };
  const lines = welcome(trading, path.resolve('.data'))
    .split('\n')
    .map((line) => line.trim());
  expect(lines).toContain('orders     http://127.0.0.1:8090');
  expect(lines).toContain('npm run demo -- trading');
  expect(lines).toContain(
    "curl -s http://127.0.0.1:8090/account/scopes -H 'x-client-id: c-1' -H 'x-api-key: k-1' -H 'x-api-secret: s-1'",
  );
  expect(lines.join('\n')).toContain(path.resolve('.data/cluster.json'));
  expect(welcome(CLUSTER, path.resolve('.data'))).not.toContain('trading');
});

it('shortens the list of demo users', () => {
  const emails = ['maker-1@d', 'maker-2@d', 'maker-3@d', 'auditor-1@d', 'load-maker-9@d', 'admin@d'];
  expect(demoNames(emails)).toBe('maker-1..3@d, auditor-1@d, admin@d');
});

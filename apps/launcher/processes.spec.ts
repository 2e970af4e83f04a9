import { expect, it } from '@jest/globals';
import { sharedLogin } from './database-logins.js';
import { childEnvironment, planProcesses } from './processes.js';
import { makeSecrets } from './secrets.js';

const secrets = makeSecrets();
const plans = planProcesses({
  databases: sharedLogin('postgres://sotto@127.0.0.1/sotto'),
  secrets,
  limitsFactor: 1,
  journalPath: undefined,
  listenHost: '127.0.0.1',
  services: ['auction', 'execution'],
  publicPorts: { gateway: [8_080], execution: [8_090] },
  internalUrls: {
    owner: ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'],
    cell: ['http://127.0.0.1:4', 'http://127.0.0.1:5'],
    executor: ['http://127.0.0.1:6'],
  },
  trading: {
    signerSocket: '/signer.sock',
    practiceFolder: '/practice',
    adminPort: 7,
    venueBPort: 8,
    venueEPort: 9,
  },
});
const environments = (env: Readonly<Record<string, string>>): [string, Readonly<Record<string, unknown>>][] =>
  plans.map((plan) => [plan.name, childEnvironment(env, plan, 1)]);
const holders = (name: string): string[] =>
  environments({ [name]: 'given' })
    .filter(([, env]) => env[name] === 'given')
    .map(([process]) => process);

it('what the operator sets reaches those who read it, and nobody else', () => {
  const owners = ['owner-0', 'owner-1', 'owner-2'];
  const cells = ['cell-0', 'cell-1'];
  const ofJournals = [...owners, 'gateway-0', 'projector', 'execution-0', ...cells];
  expect(holders('KAFKA_SASL_PASSWORD')).toEqual(ofJournals);
  expect(holders('SNAPSHOT_EVERY_EVENTS')).toEqual([...owners, ...cells]);
  expect(holders('RISK_EVIDENCE_TTL_MS')).toEqual(['settler']);
  const linked = [...owners, 'gateway-0', 'settler', 'execution-0', ...cells, 'executor', 'signer'];
  expect(holders('SERVICE_TOKEN_FILE')).toEqual(linked);
  expect(holders('SIGNER_KEY')).toEqual([]);
  expect(holders('SESSION_KEK')).toEqual([]);
  expect(holders('DATA_DIR')).toEqual([]);
});

it.each(['LOG_LEVEL', 'PATH', 'TZ', 'NODE_OPTIONS', 'OTEL_RESOURCE_ATTRIBUTES', 'PGSSLROOTCERT'])(
  '%s reaches every process',
  (name) => {
    expect(holders(name)).toHaveLength(plans.length);
  },
);

it('what the launcher knows better stands above what the operator has set', () => {
  const given = { PORT: '9', LISTEN_HOST: '0.0.0.0', DATABASE_URL: 'postgres://x@y/z', SERVICE_TOKEN: 'x' };
  const withoutDatabase = ['executor', 'practice'];
  const withoutToken = ['projector', 'practice'];
  const ports = new Map([
    ['gateway-0', '8080'],
    ['execution-0', '8090'],
  ]);
  for (const [name, env] of environments(given)) {
    const url = withoutDatabase.includes(name) ? undefined : 'postgres://sotto@127.0.0.1/sotto';
    expect([name, env.DATABASE_URL]).toEqual([name, url]);
    const token = withoutToken.includes(name) ? undefined : secrets.service_token;
    expect([name, env.SERVICE_TOKEN]).toEqual([name, token]);
    const port = ports.get(name);
    expect([name, env.PORT, env.LISTEN_HOST]).toEqual([name, port, port && '127.0.0.1']);
  }
});

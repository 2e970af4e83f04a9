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
  publicPorts: { gateway: [8_080] },
  ownerUrls: ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3'],
});
const environments = (env: Readonly<Record<string, string>>): [string, Readonly<Record<string, unknown>>][] =>
  plans.map((plan) => [plan.name, childEnvironment(env, plan, 1)]);
const holders = (name: string): string[] =>
  environments({ [name]: 'given' })
    .filter(([, env]) => env[name] === 'given')
    .map(([process]) => process);

it('what the operator sets reaches those who read it, and nobody else', () => {
  const owners = ['owner-0', 'owner-1', 'owner-2'];
  expect(holders('KAFKA_SASL_PASSWORD')).toEqual([...owners, 'gateway-0', 'projector']);
  expect(holders('SNAPSHOT_EVERY_EVENTS')).toEqual(owners);
  expect(holders('RISK_EVIDENCE_TTL_MS')).toEqual(['settler']);
  expect(holders('SERVICE_TOKEN_FILE')).toEqual([...owners, 'gateway-0', 'settler']);
  expect(holders('SESSION_KEK')).toEqual([]);
  expect(holders('DATA_DIR')).toEqual([]);
});

it.each([
  'LOG_LEVEL',
  'DATABASE_POOL',
  'PATH',
  'TZ',
  'NODE_OPTIONS',
  'OTEL_RESOURCE_ATTRIBUTES',
  'PGSSLROOTCERT',
])('%s reaches every process', (name) => {
  expect(holders(name)).toHaveLength(plans.length);
});

it('what the launcher knows better stands above what the operator has set', () => {
  const given = { PORT: '9', LISTEN_HOST: '0.0.0.0', DATABASE_URL: 'postgres://x@y/z', SERVICE_TOKEN: 'x' };
  for (const [name, env] of environments(given)) {
    expect(env.DATABASE_URL).toBe('postgres://sotto@127.0.0.1/sotto');
    expect(env.SERVICE_TOKEN).toBe(name === 'projector' ? undefined : secrets.service_token);
    const isGateway = name === 'gateway-0';
    expect([env.PORT, env.LISTEN_HOST]).toEqual(isGateway ? ['8080', '127.0.0.1'] : [undefined, undefined]);
  }
});

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
  services: ['auction', 'execution', 'data'],
  publicPorts: { gateway: [8_080], execution: [8_090], data: [8_100] },
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
  data: {
    ...{ dataPort: 8_100, mdPort: 8_101, streamPort: 8_102, liveReadsPort: 10 },
    ...{ recordedFolder: '/data/recorded', fedVenues: ['a', 'e'] },
  },
});
const environments = (env: Readonly<Record<string, string>>): [string, Readonly<Record<string, unknown>>][] =>
  plans.map((plan) => [plan.name, childEnvironment(env, plan, 1)]);
const holders = (name: string): string[] =>
  environments({ [name]: 'given' })
    .filter(([, env]) => env[name] === 'given')
    .map(([process]) => process);

it('a setting of the operator reaches only the processes that read it', () => {
  const owners = ['owner-0', 'owner-1', 'owner-2'];
  const cells = ['cell-0', 'cell-1'];
  const ofJournals = [...owners, 'gateway-0', 'projector', 'execution-0', ...cells, 'data-0'];
  expect(holders('KAFKA_SASL_PASSWORD')).toEqual(ofJournals);
  expect(holders('SNAPSHOT_EVERY_EVENTS')).toEqual([...owners, ...cells]);
  expect(holders('RISK_EVIDENCE_TTL_MS')).toEqual(['settler']);
  const linked = [...owners, 'gateway-0', 'settler', 'execution-0', ...cells, 'executor', 'signer', 'data-0'];
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

it('settings of the launcher override those of the operator', () => {
  const given = { PORT: '9', LISTEN_HOST: '0.0.0.0', DATABASE_URL: 'postgres://x@y/z', SERVICE_TOKEN: 'x' };
  const withoutDatabase = ['executor', 'practice'];
  const withoutToken = ['projector', 'practice', 'ingest-0'];
  for (const [name, env] of environments(given)) {
    const url = withoutDatabase.includes(name) ? undefined : 'postgres://sotto@127.0.0.1/sotto';
    expect([name, env.DATABASE_URL]).toEqual([name, url]);
    const token = withoutToken.includes(name) ? undefined : secrets.service_token;
    expect([name, env.SERVICE_TOKEN]).toEqual([name, token]);
    const isPublic = ['gateway-0', 'execution-0', 'data-0'].includes(name);
    expect([name, env.PORT]).toEqual([name, name === 'gateway-0' ? '8080' : undefined]);
    expect([name, env.EXECUTION_PORT]).toEqual([name, name === 'execution-0' ? '8090' : undefined]);
    expect([name, env.DATA_PORT]).toEqual([name, name === 'data-0' ? '8100' : undefined]);
    expect([name, env.LISTEN_HOST]).toEqual([name, isPublic ? '127.0.0.1' : undefined]);
  }
});

it('a gateway gets no settings of a service that another gateway serves', () => {
  const namesOf = (wanted: string): string[] =>
    environments({}).flatMap(([name, env]) => (name === wanted ? Object.keys(env) : []));
  const ofAuctions = ['PORT', 'OWNER_URLS', 'AUDIT_KEY', 'AUDIT_SIGNING_KEY'];
  const ofOrders = ['EXECUTION_PORT', 'CELL_URLS', 'EXECUTOR_URL', 'API_KEY_SECRET', 'VENUE_B_URL'];
  expect(namesOf('gateway-0')).toEqual(expect.arrayContaining(ofAuctions));
  expect(namesOf('execution-0')).toEqual(expect.arrayContaining(ofOrders));
  expect(namesOf('gateway-0').filter((name) => ofOrders.includes(name))).toEqual([]);
  expect(namesOf('execution-0').filter((name) => ofAuctions.includes(name))).toEqual([]);
  expect(holders('VENUES')).toEqual(['execution-0', 'executor']);
  expect(holders('OWNER_TIMEOUT_MS')).toEqual(['gateway-0']);
  for (const plan of plans) {
    const env = { ...childEnvironment({}, plan, 1), JOURNAL_PATH: '/' };
    expect([plan.name, plan.faults(env)]).toEqual([plan.name, []]);
  }
});

it('market data reads venues that have a source, and orders go to the practice venues', () => {
  const found = (process: string, setting: string): unknown =>
    environments({}).find(([name]) => name === process)?.[1][setting];
  expect(found('executor', 'VENUE_B_URL')).toBe('http://127.0.0.1:8/trade-api/v2');
  expect(['A', 'B', 'E'].map((venue) => found('data-0', `VENUE_${venue}_URL`))).toEqual([
    'http://127.0.0.1:10/a',
    undefined,
    'http://127.0.0.1:10/e',
  ]);
  expect(found('ingest-0', 'VENUE_E_FEED_URL')).toBe('http://127.0.0.1:9');
  expect(found('ingest-0', 'RECORDED_DIR')).toBe('/data/recorded');
  expect(holders('ADMIN_SECRETS')).toEqual(['data-0']);
  expect(holders('DATA_SOURCES')).toEqual(['ingest-0']);
});

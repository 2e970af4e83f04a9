import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { startTestServer, type TestServer } from '#libs/testing/database/test-server.js';
import { Container, type ComposedService, type Machine } from './containers.js';
import { SCRAPES } from './monitoring.js';
import { ROOT } from './processes.js';

jest.setTimeout(180_000);

const READY_WITHIN_MS = 60_000;
const TOKEN = 'metrics-token-of-compose-0123456789abcdef';
const PASSWORDS = [
  ...['OWNER', 'GATEWAY', 'PROJECTOR', 'SETTLER', 'CELL', 'SIGNER', 'DATA', 'INGEST', 'OPERATIONS'],
];
const OPERATOR = { OPS_EMAIL: 'ops@house.example', OPS_PASSWORD: 'a-password-of-some-length' };
const KEYS = [
  'ID_KEY',
  'SESSION_KEK',
  'STREAM_KEYS',
  'AUDIT_KEY',
  'AUDIT_SIGNING_KEY',
  'API_KEY_SECRET',
  'SIGNER_KEY',
  'ADMIN_SECRETS',
];
/** No venue answers there: nothing is traded here. */
const VENUES = { VENUE_B_URL: 'http://127.0.0.1:9/trade-api/v2', VENUE_E_URL: 'http://127.0.0.1:9' };

const { services } = parse(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8'), {
  merge: true,
  maxAliasCount: 1_000,
}) as {
  readonly services: Readonly<Record<string, ComposedService>>;
};
/** Long-running services, in the order of the file. */
const lasting = Object.entries(services).filter(([, { environment }]) => environment?.INSTANCE !== undefined);

const PUBLIC: readonly (readonly [name: string, setting: string])[] = [
  ...[0, 1].map((number) => [`gateway-${number}`, 'PORT'] as const),
  ...[0, 1].map((number) => [`execution-${number}`, 'EXECUTION_PORT'] as const),
  ...[0, 1].flatMap((number) =>
    ['DATA_PORT', 'MD_PORT', 'STREAM_PORT'].map((setting) => [`data-${number}`, setting] as const),
  ),
];

/**
 * Every process of docker-compose.yml, with the command and environment that it names; addresses and paths are
 * this machine's.
 */
describeWithKafka('the containers of docker-compose.yml', { anyBrokers: true }, (kafka) => {
  const internal = new Map<string, number>();
  const containers = new Map<string, Container>();
  let folder: string;
  let database: TestServer;
  let publicPorts: readonly number[];

  /** Variables that compose reads from its environment. The database has the name of its role, as in the tests. */
  const given = (): Record<string, string> => ({
    POSTGRES_PASSWORD: new URL(database.url).password,
    METRICS_TOKEN: TOKEN,
    SECRETS_DIR: folder,
    ...OPERATOR,
    ...VENUES,
    ...Object.fromEntries(KEYS.map((name, index) => [name, `${index + 1}`.repeat(64)])),
    ...Object.fromEntries(
      PASSWORDS.map((name) => [`DATABASE_PASSWORD_${name}`, `password0${name}0123456789`]),
    ),
  });
  const publicPlace = (name: string): Record<string, string> => {
    const own = PUBLIC.flatMap(([of, setting], index) =>
      of === name ? [[setting, String(publicPorts[index])] as const] : [],
    );
    return own.length === 0 ? {} : { ...Object.fromEntries(own), LISTEN_HOST: '127.0.0.1' };
  };
  const machineOf = (name: string): Machine => ({
    given: given(),
    places: [
      ['@postgres:5432/', `@${new URL(database.url).host}/`],
      ['kafka:9092', kafka().addresses.join(',')],
      ['//gateway-0:8080', `//127.0.0.1:${publicPorts[0] ?? 0}`],
      ...[...internal].map(([host, port]) => [`//${host}:7000`, `//127.0.0.1:${port}`] as const),
      // Secrets are where compose puts them, and no others are present.
      ...(services[name]?.secrets ?? []).map(
        ({ source, target }) => [target, path.join(folder, source)] as const,
      ),
      ['inside0', 'lo'],
      ['/run/signer', folder],
    ],
    own: {
      ...(internal.has(name) ? { INTERNAL_PORT: String(internal.get(name)) } : {}),
      ...publicPlace(name),
      ...(services[name]?.environment?.KAFKA_BROKERS === undefined
        ? {}
        : { KAFKA_TOPIC_PREFIX: kafka().prefix }),
    },
  });
  const container = (name: string): Container => {
    const service = services[name];
    if (service === undefined) throw new Error(`there is no service ${name}`);
    const known = containers.get(name) ?? new Container(name, service, machineOf(name));
    containers.set(name, known);
    return known;
  };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-compose-'));
    chmodSync(folder, 0o755);
    writeFileSync(path.join(folder, 'service-tokens'), `${'5'.repeat(64)}\n`);
    database = await startTestServer();
    const ports = await pickPorts(lasting.length + PUBLIC.length);
    publicPorts = ports.slice(0, PUBLIC.length);
    const rest = ports.slice(PUBLIC.length);
    for (const [index, [name]] of lasting.entries()) internal.set(name, rest[index] ?? 0);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([...containers.values()].map((each) => each.stop('SIGKILL')));
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('make the schema and the roles, and end', async () => {
    const { code, output } = await container('migrate').run();
    expect([code, output]).toEqual([0, expect.stringContaining('have their rights')]);
  });

  it('add accounts and open the ledger as docs/operate says', async () => {
    const [head = '', ...person] = 'add ops@house.example --name Operations --role OPERATOR'.split(' ');
    const added = await container('accounts').run([head, ...person], `${OPERATOR.OPS_PASSWORD}\n`);
    expect([added.code, added.output]).toEqual([0, added.output]);
    expect(await container('accounts').run()).toMatchObject({
      code: 0,
      output: expect.stringContaining('ops@house.example'),
    });
    const books = await container('ledger').run();
    expect([books.code, books.output]).toEqual([0, books.output]);
  });

  it('become healthy by their own checks, and are not healthy before they run', async () => {
    expect(await container('owner-0').isHealthy()).toBe(false);
    for (const [name] of lasting) container(name).start();
    await eventually(async () => {
      for (const [name] of lasting) {
        const each = container(name);
        if (each.hasEnded) throw new Error(`${name} has ended: ${(await each.stop())?.output ?? ''}`);
        if (!(await each.isHealthy())) throw new Error(`${name} is not healthy`);
      }
    }, READY_WITHIN_MS);
  });

  it('let an added account log in', async () => {
    for (const port of publicPorts.slice(0, 2)) {
      const answer = await fetch(`http://127.0.0.1:${port}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: OPERATOR.OPS_EMAIL, password: OPERATOR.OPS_PASSWORD }),
      });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('access_token')]);
    }
  });

  it('show operators the shards at their terminal, by the gateway on the network', async () => {
    const { code, output } = await container('ops').run();
    expect([code, output.match(/\bACTIVE\b/g)?.length, output]).toEqual([0, 3, output]);
  });

  it('serve metrics where Prometheus scrapes them', async () => {
    for (const { job_name: job, static_configs: configs } of SCRAPES) {
      for (const target of configs.flatMap(({ targets }) => targets)) {
        const port = internal.get(target.replace(':7000', ''));
        const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        expect([job, target, figures]).toEqual([job, target, expect.stringMatching(/^sotto_ready\S* 1$/m)]);
      }
    }
  });

  it('have tools next to them, which operators call as docs/operate says', async () => {
    const sound = await container('journal').run();
    expect([sound.code, sound.output]).toEqual([0, expect.stringContaining('SOUND')]);
    const lag = await container('projection').run();
    expect([lag.code, lag.output]).toEqual([0, lag.output]);
    const rebuilt = await container('projection').run(['rebuild']);
    expect([rebuilt.code, rebuilt.output]).toEqual([0, rebuilt.output]);
    const backup = path.join(folder, 'backup');
    const written = await container('backup').run(['create', '--folder', backup]);
    expect([written.code, written.output]).toEqual([0, expect.stringContaining('rows of')]);
    const whole = await container('backup').run(['check', '--folder', backup]);
    expect([whole.code, whole.output]).toEqual([0, expect.stringContaining('whole')]);
  });

  it('stop on SIGTERM, within their time', async () => {
    const order = lasting.map(([name]) => name).sort();
    for (const name of order) {
      const ended = await container(name).stop();
      expect([name, ended?.code, ended?.output.includes('"level":"fatal"')]).toEqual([name, 0, false]);
    }
  });

  it('can be checked for a restored database while they are stopped', async () => {
    const { code, output } = await container('accept-restored').run();
    expect([code, output]).toEqual([0, expect.stringContaining('is not marked as restored')]);
  });
});

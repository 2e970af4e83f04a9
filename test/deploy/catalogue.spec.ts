import { expect, it } from '@jest/globals';
import { clusterProcess } from '#apps/launcher/cluster-file.js';
import { publicPortsOf } from '#apps/launcher/config.js';
import { sharedLogin } from '#apps/launcher/database-logins.js';
import { planProcesses } from '#apps/launcher/processes.js';
import { loadPrograms } from '#apps/launcher/programs.js';
import { makeSecrets } from '#apps/launcher/secrets.js';
import { passwordSettings } from '#apps/cli/config.js';
import {
  databaseRoles,
  kindNamed,
  PROCESSES,
  SERVICE_NAMES,
  type ProcessKind,
} from '#libs/platform/processes/catalogue.js';
import { composeGaps, kubernetesGaps, scrapeGaps } from './catalogue-gaps.js';

/** A kind that no release has, run by an existing app. */
const COURIER: ProcessKind = {
  ...kindNamed('gateway'),
  name: 'courier',
  isNumbered: false,
  replicas: { local: 2, compose: 1, kubernetes: 1 },
  publicPort: { base: 8180, step: 10, settings: ['PORT'] },
  settings: { SERVES: 'auction' },
  databaseRole: 'courier',
};
const KINDS: readonly ProcessKind[] = [...PROCESSES, COURIER];
const known = await loadPrograms(PROCESSES);
const programs = await loadPrograms(KINDS);

const PORTS = { PORT: 9080, GATEWAYS: 1, EXECUTION_PORT: undefined, SERVICES: SERVICE_NAMES };
const plans = planProcesses(
  {
    databases: sharedLogin('postgres://sotto@127.0.0.1/sotto', databaseRoles(KINDS)),
    secrets: makeSecrets(),
    limitsFactor: 1,
    journalPath: undefined,
    listenHost: '127.0.0.1',
    services: SERVICE_NAMES,
    publicPorts: publicPortsOf(PORTS, KINDS),
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
  },
  programs,
);

it('deployments have every kind of the catalogue', () => {
  expect(composeGaps(known)).toEqual([]);
  expect(kubernetesGaps(known)).toEqual([]);
  expect(scrapeGaps(known)).toEqual([]);
});

it('a new kind is started by the launcher, with the settings of its app', () => {
  const couriers = plans.filter(({ kind }) => kind.name === 'courier');
  expect(couriers.map(({ name, script, url }) => [name, script, url])).toEqual([
    ['courier-0', 'gateway/main.js', 'http://127.0.0.1:9180'],
    ['courier-1', 'gateway/main.js', 'http://127.0.0.1:9190'],
  ]);
  for (const { env, faults } of couriers) expect(faults({ ...env, INTERNAL_PORT: '1' })).toEqual([]);
  expect(couriers[0]?.env).toMatchObject({ SERVES: 'auction' });
  expect(couriers[0]?.env).not.toHaveProperty('ID_KEY');
});

it('a new kind is in cluster.json', () => {
  const plan = plans.find(({ name }) => name === 'courier-0')!;
  expect(clusterProcess({ plan, internalPort: 20_001 }, 7)).toEqual({
    name: 'courier-0',
    kind: 'courier',
    pid: 7,
    health_url: 'http://127.0.0.1:20001/healthz',
    metrics_url: 'http://127.0.0.1:20001/metrics',
    url: 'http://127.0.0.1:9180',
  });
});

it('a new kind has a database role and a password', () => {
  expect(databaseRoles(KINDS)).toEqual([...databaseRoles(PROCESSES), 'courier']);
  expect(passwordSettings(databaseRoles(KINDS))).toHaveProperty('DATABASE_PASSWORD_COURIER');
});

it('deployments that lack a new kind are reported', () => {
  expect(composeGaps(programs)).toEqual(['migrate: DATABASE_PASSWORD_COURIER', 'service courier']);
  expect(kubernetesGaps(programs)).toEqual([
    'migrate: DATABASE_PASSWORD_COURIER',
    'workload courier',
    'network policy to-the-database: courier',
    'network policy to-the-journals: courier',
    'network policy from-links: courier',
    'network policy to-the-collector: courier',
    'network policy figures: courier',
  ]);
  expect(scrapeGaps(programs)).toEqual([
    'prometheus.yml: job courier',
    'prometheus.yml: targets of courier',
    'monitoring/pods.yaml: courier',
  ]);
});

it('no two processes on a machine have the same public port, and all stop within ten seconds', () => {
  const ports = Object.values(publicPortsOf({ ...PORTS, PORT: 8080, GATEWAYS: 10 })).flat();
  expect(new Set(ports).size).toBe(ports.length);
  const stages = Map.groupBy<number, ProcessKind>(PROCESSES, ({ stop }) => stop.order);
  const longest = [...stages.values()].map((kinds) => Math.max(...kinds.map(({ stop }) => stop.withinMs)));
  expect(longest.reduce((sum, millis) => sum + millis, 0)).toBeLessThan(10_000);
});

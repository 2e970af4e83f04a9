import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { PROCESSES } from '#libs/platform/processes/catalogue.js';
import { faultsOf, OF_NODE, ROOT, runs, SCHEMAS } from './processes.js';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly command: readonly string[];
  readonly env?: readonly Variable[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: readonly string[] } } };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: {
    readonly requests?: Record<string, string>;
    readonly limits?: Record<string, string>;
  };
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly volumes?: readonly object[];
  readonly containers: readonly Container[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken?: boolean;
}

interface Peer {
  readonly podSelector?: { readonly matchLabels: Record<string, string> };
  readonly namespaceSelector?: object;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { readonly app?: string };
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly resources?: readonly string[];
  readonly spec: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly clusterIP?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly maxUnavailable?: number;
    readonly selector?: { readonly matchLabels?: Record<string, string>; readonly app?: string };
    readonly template?: {
      readonly metadata: { readonly labels: { readonly app: string } };
      readonly spec: PodSpec;
    };
    readonly schedule?: string;
    readonly concurrencyPolicy?: string;
    readonly jobTemplate?: {
      readonly spec: {
        readonly podFailurePolicy?: unknown;
        readonly template: {
          readonly metadata: { readonly labels: { readonly app: string } };
          readonly spec: PodSpec;
        };
      };
    };
    readonly podSelector?: { readonly matchLabels?: { readonly app: string } };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly {
      readonly from?: readonly Peer[];
      readonly ports: readonly { readonly port: number }[];
    }[];
    readonly ports?: readonly { readonly targetPort: string; readonly port: number }[];
  } & Partial<PodSpec>;
}

const FOLDER = path.join(ROOT, 'deploy/kubernetes');
const OPERATIONS = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');

const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
const manifests = files.flatMap((file) => {
  const documents = parseAllDocuments(readFileSync(path.join(FOLDER, file), 'utf8'));
  for (const document of documents) expect([file, document.errors]).toEqual([file, []]);
  return documents.map((document) => document.toJS() as Manifest);
});

function ofKind(kind: string): Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

function named(kind: string, name: string): Manifest {
  const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

const settings = named('ConfigMap', 'sotto-settings').data ?? {};
const KINDS = ['StatefulSet', 'Deployment', 'Job', 'CronJob', 'Pod'];
const workloads = KINDS.flatMap(ofKind).map((manifest): [string, PodSpec, Container] => {
  const template = manifest.spec.template ?? manifest.spec.jobTemplate?.spec.template;
  const pod = template?.spec ?? {
    ...manifest.spec,
    containers: manifest.spec.containers ?? [],
  };
  const [container] = pod.containers;
  if (container === undefined) throw new Error(`${manifest.metadata.name} has no container`);
  return [manifest.metadata.name, pod, container];
});
function containerOf(name: string): Container {
  const found = workloads.find(([each]) => each === name);
  if (found === undefined) throw new Error(`nothing runs ${name}`);
  return found[2];
}

/** Pods that wait for somebody to call a tool in them. */
const WAITING = ['accounts', 'ledger', 'operator', 'ops'];
const lasting = workloads.filter(([name]) => ![...WAITING, 'migrate', 'journal'].includes(name));

/** Whose login of the database each has that has none of its own. */
const WHO: Readonly<Record<string, string>> = {
  migrate: 'migration',
  ledger: 'migration',
  operator: 'migration',
  accounts: 'operations',
  journal: 'operations',
};

const DEPLOYED = PROCESSES.filter(({ replicas }) => replicas.kubernetes > 0);

const A_KEY = '0123456789abcdef'.repeat(4);
/** Of each secret key, what a good one looks like where that is not a key. */
const LOOKS_LIKE: readonly [RegExp, string][] = [
  [/-database-url$/, 'postgres://sotto_x:secret@postgres.example:5432/sotto'],
  [/./, A_KEY],
];

/** What the process would find in its environment. */
function environmentOf({ env = [], envFrom = [] }: Container): Record<string, string> {
  const own = env.map(({ name, value, valueFrom }): [string, string] => {
    const key = valueFrom?.secretKeyRef?.key;
    if (key !== undefined) return [name, LOOKS_LIKE.find(([pattern]) => pattern.test(key))?.[1] ?? ''];
    if (valueFrom?.fieldRef?.fieldPath === "metadata.labels['apps.kubernetes.io/pod-index']")
      return [name, '2'];
    if (valueFrom?.fieldRef?.fieldPath === 'status.podIP') return [name, '10.1.2.3'];
    return [name, value ?? 'owner-2'];
  });
  return { ...(envFrom.length === 0 ? {} : settings), ...Object.fromEntries(own) };
}

describe('the Kubernetes manifests', () => {
  it('are all of the kustomization, pods for tools aside, and in one namespace', () => {
    const resources = ofKind('Kustomization').flatMap((manifest) => manifest.resources ?? []);
    const aside = ['kustomization.yaml', ...WAITING.map((name) => `${name}.yaml`)];
    expect([...resources].sort()).toEqual(files.filter((file) => !aside.includes(file)).sort());
    const spaced = manifests.filter(({ kind }) => !['Kustomization', 'Namespace'].includes(kind));
    expect(new Set(spaced.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['sotto']));
  });

  it('run every kind of process', () => {
    const kinds = lasting.map(([name]) => name).sort();
    expect(kinds).toEqual(DEPLOYED.map(({ name }) => name).sort());
    expect(ofKind('StatefulSet').map(({ metadata }) => metadata.name)).toEqual(['owner']);
  });

  it.each(workloads)(
    '%s runs a file that the source has, of one pinned image',
    (name, _pod, { command, image }) => {
      expect(image).toMatch(/^sotto:\d+\.\d+\.\d+$/);
      if (!WAITING.includes(name)) expect(runs(command)).toBe(true);
      else expect(command[0]).toBe('sleep');
    },
  );

  it.each(workloads)('%s finds nothing wrong with its settings', (name, _pod, container) => {
    expect(faultsOf(name, environmentOf(container))).toEqual([]);
    const known = [...Object.keys(SCHEMAS[name] ?? {}), OF_NODE];
    expect(
      (container.env ?? []).map((variable) => variable.name).filter((each) => !known.includes(each)),
    ).toEqual([]);
  });

  it('share only settings that some process has', () => {
    const known = new Set(Object.values(SCHEMAS).flatMap((schema) => Object.keys(schema)));
    expect(Object.keys(settings).filter((name) => !known.has(name))).toEqual([]);
  });

  it('keep no secret, and name each one that they need in docs/operations.md', () => {
    expect(ofKind('Secret')).toEqual([]);
    const secrets = Object.values(SCHEMAS).flatMap((schema) =>
      Object.entries(schema).flatMap(([name, { secret }]) => (secret === true ? [name] : [])),
    );
    for (const [, , { env = [] }] of workloads) {
      const open = env.filter(({ name, value }) => secrets.includes(name) && value !== undefined);
      expect(open).toEqual([]);
    }
    const keys = workloads.flatMap(([, , { env = [] }]) =>
      env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []),
    );
    expect([...new Set(keys)].filter((key) => !OPERATIONS.includes(`\`${key}\``))).toEqual([]);
  });

  it('mount the service tokens where they are read, backups where they are made, and nothing else anywhere', () => {
    for (const [name, { volumes = [] }, { volumeMounts = [] }] of workloads) {
      if (name === 'operator') continue;
      const isRead = 'SERVICE_TOKEN_FILE' in (SCHEMAS[name] ?? {});
      const mounted = volumeMounts.map(({ name: volume, mountPath }) => `${volume} ${mountPath}`);
      expect([name, mounted]).toEqual([name, isRead ? ['service-tokens /run/sotto'] : []]);
      expect([name, volumes]).toEqual([
        name,
        isRead ? [{ name: 'service-tokens', secret: { secretName: 'sotto-service-tokens' } }] : [],
      ]);
    }
  });

  it('give each process the database login of its kind', () => {
    for (const [name, , { env = [] }] of workloads) {
      const key = env.find((variable) => variable.name === 'DATABASE_URL')?.valueFrom?.secretKeyRef?.key;
      const wanted =
        'DATABASE_URL' in (SCHEMAS[name] ?? {}) ? `${WHO[name] ?? name}-database-url` : undefined;
      expect([name, key]).toEqual([name, wanted]);
    }
  });

  it('verify every night, once at a time, and do not try again what was found damaged', () => {
    const { spec } = named('CronJob', 'journal');
    expect(spec).toMatchObject({
      schedule: expect.stringMatching(/^\d+ \d+ \* \* \*$/),
      concurrencyPolicy: 'Forbid',
    });
    const { podFailurePolicy, template } = spec.jobTemplate!.spec;
    expect(template.metadata.labels.app).toBe('journal');
    expect(template.spec).toMatchObject({ restartPolicy: 'Never' });
    const [container] = template.spec.containers;
    expect(container?.command.at(-1)).toBe('verify');
    const onExitCodes = { containerName: 'journal', operator: 'In', values: [1] };
    expect(podFailurePolicy).toEqual({ rules: [{ action: 'FailJob', onExitCodes }] });
  });

  it('have a pod from which operators back up, and where backups can be written and outlive it', () => {
    const claim = named('PersistentVolumeClaim', 'backups').metadata.name;
    const [, pod, container] = workloads.find(([name]) => name === 'operator')!;
    expect(pod.securityContext).toMatchObject({ runAsGroup: 1000, fsGroup: 1000 });
    expect(pod.volumes).toEqual([{ name: 'backups', persistentVolumeClaim: { claimName: claim } }]);
    expect(container.volumeMounts).toEqual([{ name: 'backups', mountPath: '/backups' }]);
    for (const call of ['backup create', 'projection rebuild', 'journal accept-restored']) {
      expect(OPERATIONS).toContain(`kubectl exec -n sotto operator -- node dist/apps/cli/main.js ${call}`);
    }
    expect(runs(['node', 'dist/apps/cli/main.js'])).toBe(true);
  });

  it('have a pod from which operators ask a gateway, and no secret in it', () => {
    const [, pod, container] = workloads.find(([name]) => name === 'ops')!;
    const { metadata, spec } = named('Service', 'gateway');
    const [port] = spec.ports ?? [];
    expect(environmentOf(container).OPS_URL).toBe(`http://${metadata.name}.sotto.svc:${port?.port ?? 0}`);
    expect(pod.volumes).toBeUndefined();
    expect((container.env ?? []).filter(({ valueFrom }) => valueFrom !== undefined)).toEqual([]);
    expect(container.envFrom).toBeUndefined();
    expect(runs(['node', 'dist/apps/cli/main.js', 'ops'])).toBe(true);
    expect(OPERATIONS).toContain('kubectl exec -n sotto -it ops -- node dist/apps/cli/main.js ops shards');
  });

  it('are told of with commands that name their namespace', () => {
    const texts = [OPERATIONS, ...files.map((file) => readFileSync(path.join(FOLDER, file), 'utf8'))];
    const commands = texts.flatMap((text) => text.match(/\bkubectl [^`\n]*/g) ?? []);
    // Who applies or deletes a file takes the namespace from it.
    const others = commands.filter(
      (command) => !/^kubectl (?:apply -[fk]|delete -f|replace --force -f) /.test(command),
    );
    expect(others.length).toBeGreaterThan(12);
    expect(others.filter((command) => !`${command} `.includes('-n sotto '))).toEqual([]);
  });

  it('take the shard from the ordinal, and find the owners by it', () => {
    const { spec } = named('StatefulSet', 'owner');
    const [container] = spec.template?.spec.containers ?? [];
    const shard = container?.env?.find(({ name }) => name === 'SHARD')?.valueFrom?.fieldRef?.fieldPath;
    expect(shard).toBe("metadata.labels['apps.kubernetes.io/pod-index']");
    const service = named('Service', spec.serviceName ?? '');
    expect(service.spec).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { app: 'owner' },
    });
    const urls = [0, 1, 2].map(
      (each) => `http://owner-${each}.${service.metadata.name}.sotto.svc:${settings.INTERNAL_PORT}`,
    );
    expect(settings.OWNER_URLS).toBe(urls.join(','));
  });

  it.each(lasting)(
    '%s is probed where it answers, and listens where its settings say',
    (_name, _pod, container) => {
      const { startupProbe, livenessProbe, readinessProbe, ports = [] } = container;
      expect(startupProbe?.httpGet).toEqual({ path: '/healthz', port: 'internal' });
      expect(livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'internal' });
      expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'internal' });
      const environment = environmentOf(container);
      const wanted = {
        internal: Number(settings.INTERNAL_PORT),
        ...(environment.PORT === undefined ? {} : { public: Number(environment.PORT) }),
      };
      expect(Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]))).toEqual(
        wanted,
      );
    },
  );

  it('stop within their time: what comes before SIGTERM, the seven seconds of a process, and some to spare', () => {
    for (const [name, { terminationGracePeriodSeconds: grace = 0 }, { lifecycle }] of lasting) {
      const [program, seconds = '0'] = lifecycle?.preStop?.exec.command ?? [];
      if (program !== undefined) expect(program).toBe('sleep');
      expect([name, grace - Number(seconds) >= 10]).toEqual([name, true]);
    }
    const [, , gateway] = lasting.find(([name]) => name === 'gateway')!;
    const [, , owner] = lasting.find(([name]) => name === 'owner')!;
    expect(Number(gateway.lifecycle?.preStop?.exec.command[1])).toBeGreaterThanOrEqual(5);
    for (const [name, , { lifecycle }] of lasting) {
      expect([name, lifecycle?.preStop !== undefined]).toEqual([name, true]);
    }
    // The shard stands still from SIGTERM to the recovery of its successor, which is promised in three seconds.
    expect(owner.lifecycle?.preStop?.exec.command).toEqual(['sleep', '1']);
  });

  it('may be disrupted one at a time', () => {
    const budgets = ofKind('PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(lasting.map(([name]) => name).sort());
    for (const { metadata, spec } of budgets) {
      expect(spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: { app: metadata.name } } });
    }
  });

  it.each(workloads)(
    '%s is nobody special, writes nothing and has bounds',
    (_name, pod, { resources, securityContext }) => {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(Object.keys(resources?.requests ?? {}).sort()).toEqual(['cpu', 'memory']);
      expect(resources?.limits?.memory).toBeDefined();
    },
  );
});

describe('the network policies', () => {
  const policies = ofKind('NetworkPolicy');

  it('begin with nobody', () => {
    const [first] = policies;
    expect(first?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  });

  it('let gateways, settlers and owners reach owners, Prometheus read them, and nobody else', () => {
    const toOwners = policies.filter(
      ({ spec }) =>
        spec.policyTypes?.includes('Ingress') === true && JSON.stringify(spec.podSelector).includes('owner'),
    );
    expect(toOwners).toHaveLength(1);
    const [rule, ...others] = toOwners[0]?.spec.ingress ?? [];
    expect(others).toEqual([]);
    expect(rule?.ports.map(({ port }) => port)).toEqual([Number(settings.INTERNAL_PORT)]);
    const [gateway, settler, owner, prometheus, ...more] = rule?.from ?? [];
    expect([gateway, settler, owner]).toEqual(
      ['gateway', 'settler', 'owner'].map((app) => ({ podSelector: { matchLabels: { app } } })),
    );
    expect(prometheus?.namespaceSelector).toEqual({
      matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' },
    });
    expect(more).toEqual([]);
  });

  it('let everybody reach the brokers who reads journals, and nobody else', () => {
    const { spec } = named('NetworkPolicy', 'to-the-journals');
    const readers = workloads.flatMap(([name]) => ('KAFKA_BROKERS' in (SCHEMAS[name] ?? {}) ? [name] : []));
    const labels = KINDS.flatMap(ofKind).flatMap(({ metadata, spec: { template, jobTemplate } }) => {
      const { labels: own } = (template ?? jobTemplate?.spec.template)?.metadata ?? metadata;
      return [[metadata.name, own?.app]];
    });
    expect(labels).toEqual(labels.map(([name]) => [name, name]));
    const { matchExpressions: matched } = spec.podSelector as {
      readonly matchExpressions?: readonly { readonly values: readonly string[] }[];
    };
    expect([...(matched?.[0]?.values ?? [])].sort()).toEqual(readers.sort());
    const port = Number(/:(\d+)$/.exec(settings.KAFKA_BROKERS ?? '')?.[1]);
    expect(JSON.stringify(spec)).toContain(`"port":${port}`);
  });

  it('let everybody reach the database who has a login of it, and nobody else', () => {
    const { spec } = named('NetworkPolicy', 'to-the-database');
    const { matchExpressions: matched } = spec.podSelector as {
      readonly matchExpressions?: readonly { readonly values: readonly string[] }[];
    };
    const users = workloads.flatMap(([name, , container]) =>
      container.env?.some((variable) => variable.name === 'DATABASE_URL') === true ? [name] : [],
    );
    expect(users.length).toBeGreaterThan(5);
    expect([...(matched?.[0]?.values ?? [])].sort()).toEqual(users.sort());
    expect(named('NetworkPolicy', 'to-names').spec.podSelector).toEqual({});
  });

  it('let the operators’ terminal reach gateways where they listen, and these let it in', () => {
    const { spec: out } = named('NetworkPolicy', 'from-the-terminal');
    const { spec: into } = named('NetworkPolicy', 'to-gateways');
    const ports = [{ protocol: 'TCP', port: Number(environmentOf(containerOf('gateway')).PORT) }];
    expect(out).toEqual({
      podSelector: { matchLabels: { app: 'ops' } },
      policyTypes: ['Egress'],
      egress: [{ to: [{ podSelector: { matchLabels: { app: 'gateway' } } }], ports }],
    });
    expect(named('Pod', 'ops').metadata.labels).toEqual({ app: 'ops' });
    // From everybody, for it is the public port.
    expect(into).toEqual({
      podSelector: { matchLabels: { app: 'gateway' } },
      policyTypes: ['Ingress'],
      ingress: [{ ports }],
    });
  });

  it('open no other port to everybody than the public one', () => {
    const open = policies.flatMap(({ spec }) =>
      (spec.ingress ?? []).filter(({ from }) => from === undefined),
    );
    expect(open).toEqual([{ ports: [{ protocol: 'TCP', port: 8080 }] }]);
  });

  it('let traces out to a collector, from the processes that make some', () => {
    const { spec } = named('NetworkPolicy', 'to-the-collector');
    const apps = DEPLOYED.map(({ name }) => name).filter(
      (kind) => 'OTEL_EXPORTER_OTLP_ENDPOINT' in (SCHEMAS[kind] ?? {}),
    );
    const { matchExpressions: matched } = spec.podSelector as {
      readonly matchExpressions?: readonly { readonly values: readonly string[] }[];
    };
    expect([...(matched?.[0]?.values ?? [])].sort()).toEqual(apps.sort());
    expect(JSON.stringify(spec)).toContain('"port":4318');
    // Where it is shown as an example it goes there, too.
    const example = readFileSync(path.join(FOLDER, 'settings.yaml'), 'utf8');
    const url = /# OTEL_EXPORTER_OTLP_ENDPOINT: (\S+)/.exec(example)?.[1] ?? '';
    expect(new URL(url).port).toBe('4318');
    expect(JSON.stringify(spec)).toContain(`"${new URL(url).hostname.split('.')[0] ?? ''}"`);
  });
});

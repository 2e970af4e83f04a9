import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { faultsOf, OF_NODE, runs, SCHEMAS } from './processes.js';
import {
  FOLDER,
  OPERATIONS,
  files,
  manifests,
  ofKind,
  named,
  settings,
  workloads,
  containerOf,
  WAITING,
  lasting,
  WHO,
  DEPLOYED,
  podOf,
  podsOf,
  roleOf,
  environmentOf,
} from './manifests.js';

/** Names of ports in pods, in the order of the settings of a kind. */
const PUBLIC_PORTS = ['public', 'companion', 'stream'];

describe('the Kubernetes manifests', () => {
  it('are all in the kustomization, except pods for tools, and in one namespace', () => {
    const resources = ofKind('Kustomization').flatMap((manifest) => manifest.resources ?? []);
    const aside = ['kustomization.yaml', ...WAITING.map((name) => `${name}.yaml`)];
    expect([...resources].sort()).toEqual(files.filter((file) => !aside.includes(file)).sort());
    const spaced = manifests.filter(({ kind }) => !['Kustomization', 'Namespace'].includes(kind));
    expect(new Set(spaced.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['sotto']));
  });

  it('run every kind of process', () => {
    const kinds = lasting.map(([name]) => name).sort();
    expect(kinds).toEqual(DEPLOYED.map(({ name }) => name).sort());
    expect(ofKind('StatefulSet').map(({ metadata }) => metadata.name)).toEqual(['cell', 'owner']);
  });

  it.each(workloads)(
    '%s runs a file that the source has, from one pinned image',
    (name, _pod, { command, image }) => {
      expect(image).toMatch(/^sotto:\d+\.\d+\.\d+$/);
      if (!WAITING.includes(name)) expect(runs(command)).toBe(true);
      else expect(command[0]).toBe('sleep');
    },
  );

  it.each(workloads)('%s accepts its settings', (name, _pod, container) => {
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

  it('contain no secret, and name each required one in docs/operate', () => {
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

  it('mount service tokens where they are read, backups where they are made, and nothing else', () => {
    for (const [name, { volumes = [] }, { volumeMounts = [] }] of workloads) {
      if (name === 'operator') continue;
      const { SERVICE_TOKEN_FILE: tokens, SIGNER_SOCKET: socket } = SCHEMAS[name] ?? {};
      const mounted = volumeMounts.map(({ name: volume, mountPath }) => `${volume} ${mountPath}`);
      expect([name, mounted]).toEqual([
        name,
        [
          ...(tokens === undefined ? [] : ['service-tokens /run/sotto']),
          ...(socket === undefined ? [] : ['signer-socket /run/signer']),
        ],
      ]);
      expect([name, volumes]).toEqual([
        name,
        [
          ...(tokens === undefined
            ? []
            : [{ name: 'service-tokens', secret: { secretName: 'sotto-service-tokens' } }]),
          ...(socket === undefined
            ? []
            : [{ name: 'signer-socket', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }]),
        ],
      ]);
    }
  });

  it('give each process the database login of its kind', () => {
    for (const [name, , { env = [] }] of workloads) {
      const key = env.find((variable) => variable.name === 'DATABASE_URL')?.valueFrom?.secretKeyRef?.key;
      const wanted =
        'DATABASE_URL' in (SCHEMAS[name] ?? {})
          ? `${WHO[name] ?? roleOf(name) ?? name}-database-url`
          : undefined;
      expect([name, key]).toEqual([name, wanted]);
    }
  });

  it('verify every night, one job at a time, without a retry after damage', () => {
    const { spec } = named('CronJob', 'journal');
    expect(spec).toMatchObject({
      schedule: expect.stringMatching(/^\d+ \d+ \* \* \*$/),
      concurrencyPolicy: 'Forbid',
    });
    const { podFailurePolicy, template } = spec.jobTemplate!.spec;
    expect(template.metadata.labels.app).toBe('journal');
    expect(template.spec).toMatchObject({ restartPolicy: 'Never' });
    const calls = template.spec.containers.map(({ command }) => command.slice(2).join(' '));
    expect(calls).toEqual(['journal verify', 'journal verify --family execution']);
    const rules = template.spec.containers.map(({ name: containerName }) => ({
      ...{ action: 'FailJob', onExitCodes: { containerName, operator: 'In', values: [1] } },
    }));
    expect(podFailurePolicy).toEqual({ rules });
  });

  it('have a pod in which operators make backups, on a volume that outlives it', () => {
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

  it('have a pod from which operators call a gateway, without a secret in it', () => {
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

  it('are documented with commands that name their namespace', () => {
    const texts = [OPERATIONS, ...files.map((file) => readFileSync(path.join(FOLDER, file), 'utf8'))];
    const commands = texts.flatMap((text) => text.match(/\bkubectl [^`\n]*/g) ?? []);
    // Applying or deleting a file takes the namespace from it.
    const others = commands.filter(
      (command) => !/^kubectl (?:apply -[fk]|delete -f|replace --force -f) /.test(command),
    );
    expect(others.length).toBeGreaterThan(12);
    expect(others.filter((command) => !`${command} `.includes('-n sotto '))).toEqual([]);
  });

  it("take the shard from the ordinal, and the owners' addresses from it", () => {
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

  it('take the cell from the ordinal, and all clients know the number of cells', () => {
    const { spec } = named('StatefulSet', 'cell');
    const cell = containerOf('cell').env?.find(({ name }) => name === 'CELL')?.valueFrom?.fieldRef?.fieldPath;
    expect(cell).toBe("metadata.labels['apps.kubernetes.io/pod-index']");
    const service = named('Service', spec.serviceName ?? '');
    expect(service.spec).toMatchObject({ clusterIP: 'None', selector: { app: 'cell' } });
    const urls = [0, 1].map(
      (each) => `http://cell-${each}.${service.metadata.name}.sotto.svc:${settings.INTERNAL_PORT}`,
    );
    expect(settings).toMatchObject({ CELLS: String(spec.replicas), CELL_URLS: urls.join(',') });
  });

  it("give users' keys to the signer alone, and its socket to the executor in the same pod", () => {
    const having = (setting: string): string[] =>
      workloads
        .filter(([, , { env = [] }]) => env.some(({ name }) => name === setting))
        .map(([name]) => name);
    expect(having('SIGNER_KEY')).toEqual(['signer']);
    expect(having('API_KEY_SECRET')).toEqual(['data', 'execution']);
    expect(having('SIGNER_SOCKET')).toEqual(['executor', 'signer']);
    const sockets = ['executor', 'signer'].map(
      (name) => environmentOf(containerOf(name)).SIGNER_SOCKET ?? '',
    );
    expect(sockets).toEqual(['/run/signer/signer.sock', '/run/signer/signer.sock']);
    const { metadata, spec } = named('Service', 'executor');
    expect(spec.selector).toEqual({ app: 'executor' });
    expect(environmentOf(containerOf('execution')).EXECUTOR_URL).toBe(
      `http://${metadata.name}.sotto.svc:${settings.INTERNAL_PORT}`,
    );
  });

  it.each(lasting)(
    '%s is probed where it answers, and listens where its settings say',
    (name, _pod, container) => {
      const { startupProbe, livenessProbe, readinessProbe, ports = [] } = container;
      // Names of ports are those of the pod.
      const port = podOf(name) === name ? 'internal' : name;
      expect(startupProbe?.httpGet).toEqual({ path: '/healthz', port });
      expect(livenessProbe?.httpGet).toEqual({ path: '/healthz', port });
      expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port });
      const environment = environmentOf(container);
      const settings = DEPLOYED.find((kind) => kind.name === name)?.publicPort?.settings ?? [];
      const wanted = {
        [port]: Number(environment.INTERNAL_PORT),
        ...Object.fromEntries(
          settings.map((setting, nth) => [PUBLIC_PORTS[nth] ?? '', Number(environment[setting])]),
        ),
      };
      expect(Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]))).toEqual(
        wanted,
      );
    },
  );

  it('stop within their time: the delay before SIGTERM, the seven seconds of a process, and a reserve', () => {
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
    // The shard pauses from SIGTERM to its successor's recovery, which is promised in three seconds.
    expect(owner.lifecycle?.preStop?.exec.command).toEqual(['sleep', '1']);
  });

  it('may be disrupted one at a time', () => {
    const budgets = ofKind('PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(
      podsOf(lasting.map(([name]) => name)),
    );
    for (const { metadata, spec } of budgets) {
      expect(spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: { app: metadata.name } } });
    }
  });

  it.each(workloads)(
    '%s is unprivileged, writes nothing and has limits',
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

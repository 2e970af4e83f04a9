import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { PROCESSES, type ProcessKind } from '#libs/platform/processes/catalogue.js';
import { textsUnder } from '../docs/markdown.js';
import { ROOT } from './processes.js';

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
  readonly name: string;
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

export const FOLDER = path.join(ROOT, 'deploy/kubernetes');
export const OPERATIONS = textsUnder('docs/operate');

export const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
export const manifests = files.flatMap((file) => {
  const documents = parseAllDocuments(readFileSync(path.join(FOLDER, file), 'utf8'));
  for (const { errors } of documents) if (errors.length > 0) throw new Error(`${file}: ${errors.join()}`);
  return documents.map((document) => document.toJS() as Manifest);
});

export function ofKind(kind: string): Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

export function named(kind: string, name: string): Manifest {
  const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

export const settings = named('ConfigMap', 'sotto-settings').data ?? {};
export const KINDS = ['StatefulSet', 'Deployment', 'Job', 'CronJob', 'Pod'];
/** The workload of each container, by container name. */
const PODS = new Map<string, string>();
/** By the name of the container; a container without companions has its workload's name. */
export const workloads = KINDS.flatMap(ofKind).flatMap((manifest): [string, PodSpec, Container][] => {
  const template = manifest.spec.template ?? manifest.spec.jobTemplate?.spec.template;
  const pod = template?.spec ?? {
    ...manifest.spec,
    containers: manifest.spec.containers ?? [],
  };
  return pod.containers.map((container) => {
    PODS.set(container.name, manifest.metadata.name);
    return [container.name, pod, container];
  });
});
export function containerOf(name: string): Container {
  const found = workloads.find(([each]) => each === name);
  if (found === undefined) throw new Error(`nothing runs ${name}`);
  return found[2];
}

/** Pods that wait for an operator to call a tool in them. */
export const WAITING = ['accounts', 'ledger', 'operator', 'ops'];
export const lasting = workloads.filter(
  ([name]) => ![...WAITING, 'migrate', 'journal', 'journal-execution'].includes(name),
);

/** The process whose database login a workload without its own uses. */
export const WHO: Readonly<Record<string, string>> = {
  migrate: 'migration',
  ledger: 'migration',
  operator: 'migration',
  accounts: 'operations',
  journal: 'operations',
  'journal-execution': 'operations',
};

export const DEPLOYED: readonly ProcessKind[] = PROCESSES.filter(({ replicas }) => replicas.kubernetes > 0);
/** The label of the pod that has the container. */
export function podOf(name: string): string {
  return PODS.get(name) ?? name;
}
export function podsOf(names: readonly string[]): string[] {
  return [...new Set(names.map(podOf))].sort();
}

export function roleOf(name: string): string | undefined {
  return DEPLOYED.find((kind) => kind.name === name)?.databaseRole;
}

const A_KEY = '0123456789abcdef'.repeat(4);
/** What a valid value of each secret looks like, if it is not a key. */
const LOOKS_LIKE: readonly [RegExp, string][] = [
  [/-database-url$/, 'postgres://sotto_x:secret@postgres.example:5432/sotto'],
  [/./, A_KEY],
];

/** The environment of the process. */
export function environmentOf({ env = [], envFrom = [] }: Container): Record<string, string> {
  const own = env.map(({ name, value, valueFrom }): [string, string] => {
    const key = valueFrom?.secretKeyRef?.key;
    if (key !== undefined) return [name, LOOKS_LIKE.find(([pattern]) => pattern.test(key))?.[1] ?? ''];
    if (valueFrom?.fieldRef?.fieldPath === "metadata.labels['apps.kubernetes.io/pod-index']")
      return [name, '1'];
    if (valueFrom?.fieldRef?.fieldPath === 'status.podIP') return [name, '10.1.2.3'];
    return [name, value ?? 'owner-2'];
  });
  return { ...(envFrom.length === 0 ? {} : settings), ...Object.fromEntries(own) };
}

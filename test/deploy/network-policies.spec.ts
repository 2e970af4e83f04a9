import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SCHEMAS } from './processes.js';
import {
  FOLDER,
  ofKind,
  named,
  settings,
  KINDS,
  workloads,
  containerOf,
  DEPLOYED,
  podsOf,
  environmentOf,
} from './manifests.js';

describe('the network policies', () => {
  const policies = ofKind('NetworkPolicy');

  it('start by denying everything', () => {
    const [first] = policies;
    expect(first?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  });

  it('let only gateways, settlers and owners reach owners, and Prometheus read them', () => {
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

  it('let only processes that read journals reach the brokers', () => {
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
    expect([...(matched?.[0]?.values ?? [])].sort()).toEqual(podsOf(readers));
    const port = Number(/:(\d+)$/.exec(settings.KAFKA_BROKERS ?? '')?.[1]);
    expect(JSON.stringify(spec)).toContain(`"port":${port}`);
  });

  it('let only processes with a login reach the database', () => {
    const { spec } = named('NetworkPolicy', 'to-the-database');
    const { matchExpressions: matched } = spec.podSelector as {
      readonly matchExpressions?: readonly { readonly values: readonly string[] }[];
    };
    const users = workloads.flatMap(([name, , container]) =>
      container.env?.some((variable) => variable.name === 'DATABASE_URL') === true ? [name] : [],
    );
    expect(users.length).toBeGreaterThan(5);
    expect([...(matched?.[0]?.values ?? [])].sort()).toEqual(podsOf(users));
    expect(named('NetworkPolicy', 'to-names').spec.podSelector).toEqual({});
  });

  it('let the operators’ terminal reach gateways where they listen, and gateways accept it', () => {
    const { spec: out } = named('NetworkPolicy', 'from-the-terminal');
    const { spec: into } = named('NetworkPolicy', 'to-gateways');
    const ports = [{ protocol: 'TCP', port: Number(environmentOf(containerOf('gateway')).PORT) }];
    expect(out).toEqual({
      podSelector: { matchLabels: { app: 'ops' } },
      policyTypes: ['Egress'],
      egress: [
        { to: ['gateway', 'execution'].map((app) => ({ podSelector: { matchLabels: { app } } })), ports },
      ],
    });
    expect(named('Pod', 'ops').metadata.labels).toEqual({ app: 'ops' });
    // From anywhere, because it is the public port.
    expect(into).toEqual({
      podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['gateway', 'execution'] }] },
      policyTypes: ['Ingress'],
      ingress: [{ ports }],
    });
  });

  it('let only orders’ gateways and the executor reach cells and venues', () => {
    const linked = { matchExpressions: [{ key: 'app', operator: 'In', values: ['execution', 'executor'] }] };
    for (const name of ['from-cell-links', 'to-the-venues']) {
      expect(named('NetworkPolicy', name).spec.podSelector).toEqual(linked);
    }
    const from = (name: string): unknown => named('NetworkPolicy', name).spec.ingress;
    const peer = (app: string): object => ({ podSelector: { matchLabels: { app } } });
    const ports = [{ protocol: 'TCP', port: Number(settings.INTERNAL_PORT) }];
    expect(from('to-cells')).toEqual([{ from: [peer('execution'), peer('executor')], ports }]);
    expect(from('to-the-executor')).toEqual([{ from: [peer('execution')], ports }]);
    const outside = policies.filter(({ spec }) => JSON.stringify(spec).includes('ipBlock'));
    expect(outside.map(({ metadata }) => metadata.name)).toEqual(['to-the-venues', 'to-the-feeds']);
    expect(named('NetworkPolicy', 'to-the-feeds').spec.podSelector).toEqual({
      matchLabels: { app: 'ingest' },
    });
  });

  it('open only the public ports to everyone', () => {
    const open = policies.flatMap(({ spec }) =>
      (spec.ingress ?? []).filter(({ from }) => from === undefined),
    );
    const ports = (...all: number[]): object => ({ ports: all.map((port) => ({ protocol: 'TCP', port })) });
    expect(open).toEqual([ports(8080), ports(8080, 8081, 8082)]);
    expect(named('NetworkPolicy', 'to-market-data').spec.podSelector).toEqual({
      matchLabels: { app: 'data' },
    });
  });

  it('let traces out to a collector, from the processes that make them', () => {
    const { spec } = named('NetworkPolicy', 'to-the-collector');
    const apps = DEPLOYED.map(({ name }) => name).filter(
      (kind) => 'OTEL_EXPORTER_OTLP_ENDPOINT' in (SCHEMAS[kind] ?? {}),
    );
    const { matchExpressions: matched } = spec.podSelector as {
      readonly matchExpressions?: readonly { readonly values: readonly string[] }[];
    };
    expect([...(matched?.[0]?.values ?? [])].sort()).toEqual(podsOf(apps));
    expect(JSON.stringify(spec)).toContain('"port":4318');
    // The example goes there, too.
    const example = readFileSync(path.join(FOLDER, 'settings.yaml'), 'utf8');
    const url = /# OTEL_EXPORTER_OTLP_ENDPOINT: (\S+)/.exec(example)?.[1] ?? '';
    expect(new URL(url).port).toBe('4318');
    expect(JSON.stringify(spec)).toContain(`"${new URL(url).hostname.split('.')[0] ?? ''}"`);
  });
});

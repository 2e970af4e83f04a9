import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { TraceReceiver } from '#libs/testing/tracing/trace-receiver.js';
import { loadConfig, settingsFaults } from '../settings/config.js';
import type { ProcessScope } from '../process/lifecycle.js';
import { createLogger } from '../process/log.js';
import { processSettings } from '../settings/process-settings.js';
import { SystemClock } from '../time/system-clock.js';
import { type OpenedTracing, openTracing } from './open-tracing.js';
import { noTracing, tracingSettings } from './tracing.js';

const SETTINGS = { ...processSettings, ...tracingSettings };

let receiver: TraceReceiver;
let stops: (() => Promise<void> | void)[];
let lines: string[];
let registry: Registry;

beforeEach(async () => {
  receiver = await TraceReceiver.open();
  stops = [];
  lines = [];
  registry = new Registry();
});
afterEach(() => receiver.close());

function open(env: Record<string, string>): Promise<OpenedTracing> & { readonly originalLog: object } {
  const log = createLogger({
    name: 'owner-0',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  });
  const scope: ProcessScope = {
    onStop: (_name, stop) => stops.push(stop),
    stopping: new AbortController().signal,
    requestStop: () => undefined,
    failNow: () => {
      throw new Error('failed');
    },
  };
  const config = loadConfig(SETTINGS, env);
  const opened = openTracing('owner', { config, log, registry, scope, clock: new SystemClock() });
  return Object.assign(opened, { originalLog: log });
}

describe('without a collector', () => {
  it('nothing is traced, counted or stopped, and the log is unchanged', async () => {
    const opening = open({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });
    const { tracing, log } = await opening;
    expect(tracing).toBe(noTracing);
    expect(log).toBe(opening.originalLog);
    expect([stops, registry.getMetricsAsArray(), lines]).toEqual([[], [], []]);
    expect([tracing.root('a', 'server'), tracing.continued('a', 'b'), tracing.child('a', 'client')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('with a collector', () => {
  it('log lines within a span name its trace, and secrets stay hidden', async () => {
    const { tracing, log } = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    lines.length = 0;
    const span = tracing.root('root', 'server')!;
    tracing.within(span, () => log.info({ request_id: 'r', password: 'hidden' }, 'within'));
    tracing.within(span, () => log.child({ token: 'hidden' }).info('of a child'));
    log.info('outside');
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.map(({ msg, trace_id: id }) => [msg, id])).toEqual([
      ['within', span.traceId],
      ['of a child', span.traceId],
      ['outside', undefined],
    ]);
    expect(records[0]).toMatchObject({ name: 'owner-0', level: 'info', request_id: 'r' });
    expect(lines.join('')).not.toContain('hidden');
    await stops[0]?.();
  });

  it('stopping sends the pending spans, and the metrics count them', async () => {
    const { tracing } = await open({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, X-Tenant=a=b',
    });
    tracing.root('root', 'server')?.end();
    await stops[0]?.();
    expect(receiver.spans.map(({ name, process }) => [name, process])).toEqual([['root', 'sotto']]);
    expect(receiver.headers[0]).toMatchObject({ authorization: 'Bearer abc', 'x-tenant': 'a=b' });
    const metrics = await registry.metrics();
    expect(metrics).toContain('sotto_trace_spans_exported_total 1\n');
    expect(metrics).toContain('sotto_trace_spans_dropped_total 0\n');
    expect(lines.join('')).not.toContain('Bearer');
  });
});

describe('the settings', () => {
  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'it must be an http or https URL'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1', 'it must be a number from 0 to 1'],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.5', 'it must be a number from 0 to 1'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half', 'it must be a number from 0 to 1'],
    ['OTEL_TRACES_SAMPLER_ARG', '.', 'it must be a number from 0 to 1'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a-secret', 'it must look like name=value,name=value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b,=a-secret', 'it must look like name=value,name=value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=a-secret%0d%0ax', 'it must look like name=value,name=value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=a-secret%', 'it must look like name=value,name=value'],
  ])('refuse %s=%s', (name, value, why) => {
    const faults = settingsFaults(tracingSettings, { [name]: value });
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${name}.* is wrong: ${why}`))]);
    expect(faults.join()).not.toContain('a-secret');
  });

  it.each(['0', '1', '0.05', '.5', '1.0'])('accept %s as a share', (value) => {
    const { OTEL_TRACES_SAMPLER_ARG: share } = loadConfig(tracingSettings, {
      OTEL_TRACES_SAMPLER_ARG: value,
    });
    expect(share).toBe(Number(value));
  });
});

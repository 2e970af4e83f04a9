import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { eventually } from '#libs/testing/eventually.js';
import { TraceReceiver, type ReceivedSpan } from '#libs/testing/tracing/trace-receiver.js';
import { SystemClock } from '../time/system-clock.js';
import { OtlpTracing, type OtlpOptions } from './otlp-tracing.js';
import { SpanBatches } from './span-batches.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const ENOUGH_MILLIS = 2_000;

let receiver: TraceReceiver;
let faults: (Error | undefined)[];

beforeEach(async () => {
  receiver = await TraceReceiver.open();
  faults = [];
});
afterEach(() => receiver.close());

function opened(overrides: Partial<OtlpOptions> = {}): OtlpTracing {
  const reported = faults;
  return new OtlpTracing({
    endpoint: receiver.url,
    headers: {},
    share: 1,
    service: 'sotto-test',
    instance: 'test-0',
    exportWithinMillis: 500,
    clock: new SystemClock(),
    onFault: (error) => reported.push(error),
    ...overrides,
  });
}

async function flushedSpans(tracing: OtlpTracing): Promise<readonly ReceivedSpan[]> {
  await tracing.batches.stop(ENOUGH_MILLIS);
  return receiver.spans;
}

describe('a trace', () => {
  it('includes everything that begins within its first span, also after waits', async () => {
    const tracing = opened();
    const root = tracing.root('root', 'server')!;
    await tracing.within(root, async () => {
      await sleep(1);
      const part = tracing.child('part', 'client')!;
      tracing.child('part of the part', 'internal', part)?.end();
      part.end();
    });
    expect(tracing.current).toBeUndefined();
    root.end();
    const spans = await flushedSpans(tracing);
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['part of the part', 'internal'],
      ['part', 'client'],
      ['root', 'server'],
    ]);
    const [leaf, part, first] = spans as [ReceivedSpan, ReceivedSpan, ReceivedSpan];
    expect([leaf.parentSpanId, part.parentSpanId, first.parentSpanId]).toEqual([
      part.spanId,
      first.spanId,
      '',
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(first.to - first.from).toBeGreaterThan(1_000_000n);
  });

  it('has no span that begins after its end', () => {
    const tracing = opened();
    const root = tracing.root('root', 'server')!;
    tracing.within(root, () => {
      expect(tracing.current).toBe(root);
      root.end();
      expect([tracing.current, tracing.child('late', 'internal')]).toEqual([undefined, undefined]);
    });
  });

  it('is continued by its traceparent in another process', async () => {
    const tracing = opened();
    const span = tracing.continued('there', `00-${TRACE}-${PARENT}-01`)!;
    expect(span.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    span.end();
    expect(await flushedSpans(tracing)).toMatchObject([
      { traceId: TRACE, parentSpanId: PARENT, kind: 'server' },
    ]);
  });

  it.each([
    ['nothing', undefined],
    ['a value that is no text', 7],
    ['an unsampled trace', `00-${TRACE}-${PARENT}-00`],
    ['another version', `01-${TRACE}-${PARENT}-01`],
    ['an empty trace id', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['two headers', `00-${TRACE}-${PARENT}-01\n00-${TRACE}-${PARENT}-01`],
  ])('is not continued from %s', (_what, traceparent) => {
    expect(opened().continued('there', traceparent)).toBeUndefined();
  });

  it('is begun for the configured share of requests', () => {
    const count = (share: number): number => {
      const tracing = opened({ share });
      return Array.from({ length: 2_000 }, () => tracing.root('root', 'server')).filter(
        (span) => span !== undefined,
      ).length;
    };
    expect([count(0), count(1)]).toEqual([0, 2_000]);
    expect(count(0.25)).toBeGreaterThan(400);
    expect(count(0.25)).toBeLessThan(600);
  });

  it('is continued whatever the share, because that was decided at its start', () => {
    expect(opened({ share: 0 }).continued('there', `00-${TRACE}-${PARENT}-01`)).toBeDefined();
  });
});

describe('the content of a span', () => {
  it('has the names of the conventions, and is an error only from 500 on', async () => {
    const tracing = opened();
    const refused = tracing.root('refused', 'server')!;
    refused.set({
      method: 'POST',
      route: '/a/{id}',
      status: 422,
      code: 'INVALID_PRICE_TICK',
      requestId: 'r',
    });
    refused.end();
    const failed = tracing.root('failed', 'server')!;
    failed.set({ status: 503 });
    failed.end();
    expect(await flushedSpans(tracing)).toMatchObject([
      {
        isError: false,
        attributes: {
          'http.request.method': 'POST',
          'http.route': '/a/{id}',
          'http.response.status_code': 422,
          'error.type': 'INVALID_PRICE_TICK',
          'sotto.request_id': 'r',
        },
      },
      { isError: true, attributes: { 'http.response.status_code': 503 } },
    ]);
  });

  it('is limited to the listed attributes', async () => {
    const tracing = opened();
    const span = tracing.root('root', 'server')!;
    const facts = { shard: 1, account: 'a-secret', toString: 'another', price_atoms: 410_000 };
    span.set(facts);
    span.end();
    expect((await flushedSpans(tracing))[0]?.attributes).toEqual({ 'sotto.shard': 1 });
    expect(receiver.bodies.join('')).not.toMatch(/a-secret|another|410000/);
  });

  it('has the name of its process', async () => {
    const tracing = opened();
    tracing.root('root', 'server')?.end();
    expect((await flushedSpans(tracing))[0]?.process).toBe('test-0');
    expect(receiver.bodies[0]).toContain('"sotto-test"');
  });
});

describe('a collector', () => {
  const spansOf = (tracing: OtlpTracing, count: number): void => {
    for (let made = 0; made < count; made += 1) tracing.root('root', 'server')?.end();
  };

  it('receives batches of at most 512 spans within a second, on the path of traces', async () => {
    const tracing = opened({ endpoint: `${receiver.url}/otlp/` });
    spansOf(tracing, 1_300);
    await eventually(() => expect(tracing.batches.exported).toBe(1_300));
    expect(receiver.spans).toHaveLength(1_300);
    expect(receiver.bodies.length).toBeGreaterThanOrEqual(3);
    expect(new Set(receiver.paths)).toEqual(new Set(['POST /otlp/v1/traces']));
    expect(tracing.batches.dropped).toBe(0);
  });

  it('that does not reply causes spans to be dropped, and delays the stop only for a bounded time', async () => {
    receiver.mood = 'hangs';
    const tracing = opened();
    spansOf(tracing, 10_000);
    // One batch is in flight, 4,096 spans wait, and the others are dropped.
    expect(tracing.batches.dropped).toBe(10_000 - 512 - 4_096);
    const began = performance.now();
    await tracing.batches.stop(300);
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(tracing.batches.dropped).toBe(10_000 - 512);
  });

  it('whose reply never ends is disconnected, and gets the next batch over a new connection', async () => {
    receiver.mood = 'drips';
    const tracing = opened({ exportWithinMillis: 300 });
    spansOf(tracing, 1);
    await eventually(() => expect(tracing.batches.exported + tracing.batches.dropped).toBe(1));
    receiver.mood = 'takes';
    spansOf(tracing, 10);
    await tracing.batches.forceFlush();
    expect(receiver.spans).toHaveLength(10);
    expect(receiver.isDripping).toBe(false);
  });

  it('with a faulty exporter cannot crash the process', async () => {
    const exporter = {
      export: () => {
        throw new Error('a fault of a package');
      },
      shutdown: () => Promise.resolve(),
    };
    const batches = new SpanBatches({
      exporter,
      clock: new SystemClock(),
      patienceMillis: ENOUGH_MILLIS,
      giveUp: () => undefined,
      onFault: (error) => faults.push(error),
    });
    batches.onEnd({} as ReadableSpan);
    await batches.forceFlush();
    expect([batches.dropped, faults.map((error) => error?.message)]).toEqual([1, ['a fault of a package']]);
  });

  it('that refuses spans is logged once per outage; the spans are dropped', async () => {
    receiver.mood = 'refuses';
    const tracing = opened();
    for (const round of [1, 2]) {
      spansOf(tracing, 10);
      await tracing.batches.forceFlush();
      expect([tracing.batches.dropped, faults.length]).toEqual([10 * round, 1]);
    }
    receiver.mood = 'takes';
    spansOf(tracing, 10);
    await tracing.batches.forceFlush();
    expect([tracing.batches.exported, receiver.spans.length, faults.length]).toEqual([10, 10, 1]);
    receiver.mood = 'refuses';
    spansOf(tracing, 1);
    await tracing.batches.forceFlush();
    expect(faults).toHaveLength(2);
  });
});

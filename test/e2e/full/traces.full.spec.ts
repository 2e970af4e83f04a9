import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { homeShard, shardOfId } from '#libs/auction/protocol/routing.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { TraceReceiver, type ReceivedSpan } from '#libs/testing/tracing/trace-receiver.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { keyFor, StreamFloor } from '../stream-floor.js';
import { auctionBody, CONTRACT, mustBe, untilPast, type Trader } from '../trading-floor.js';

jest.setTimeout(60_000);

const COLLECTOR_KEY = 'a-key-of-the-collector';
/** No number in a trace equals this by chance. */
const PRICE = 430_000;
const TERMS = { price_atoms: PRICE, quantity_atoms: 3 * CONTRACT };
/** In nanoseconds: a span begins by the wall clock, which may be corrected a little, and ends by elapsed time. */
const CLOCK_STEP = 2_000_000n;
const REFERENCE = 'reference-of-the-maker';
const A_TRACE_OF_THE_CALLER = '0af7651916cd43dd8448eb211c80319c';

let folder: string;
let receiver: TraceReceiver;
let cluster: OwnedCluster;
let floor: StreamFloor;
let originator: Trader;
let maker: Trader;
/** In another shard than the maker's home, so that the owner asks for tokens there. */
let auction: AuctionJson;
const private_: string[] = [];

beforeAll(async () => {
  receiver = await TraceReceiver.open();
  // It outlives the cluster: its last log lines are checked.
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-traces-'));
  chmodSync(folder, 0o711);
  cluster = await startCluster({
    dataDir: folder,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${COLLECTOR_KEY}`,
      LOG_LEVEL: 'debug',
      LIMITS_FACTOR: '50',
      GATEWAYS: '1',
    },
  });
  floor = new StreamFloor(cluster);
  [originator, maker] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
  auction = await opens((homeShard(maker.accountId) + 1) % 3);
}, 90_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
  await receiver.close();
  rmSync(folder, { recursive: true });
});

async function opens(shard: number, differing: object = {}): Promise<AuctionJson> {
  const key = keyFor(originator, shard);
  const body = auctionBody(floor.contract('venue_a'), [maker], { ...differing });
  const view = mustBe(201, await originator.create(body, key));
  private_.push(key, view.auction_id);
  return view;
}

/** The spans of one trace as lines `name@process < name of the parent`, without the stages that depend on load. */
function shapeOf(spans: readonly ReceivedSpan[]): string[] {
  const names = new Map(spans.map((span) => [span.spanId, `${span.name} ${span.kind}`]));
  return spans
    .map(
      (span) =>
        `${span.process}: ${span.name} ${span.kind} < ${names.get(span.parentSpanId) ?? span.parentSpanId}`,
    )
    .sort();
}

/** The trace of the first matching span, once it has this shape: each process exports at its own time. */
async function traceOf(
  isRoot: (span: ReceivedSpan) => boolean,
  shape: readonly string[],
): Promise<ReceivedSpan[]> {
  const find = (): ReceivedSpan[] => receiver.ofTrace(receiver.spans.find(isRoot)?.traceId ?? '');
  await eventually(() => expect(shapeOf(find())).toEqual(shape));
  return find();
}

function only(spans: readonly ReceivedSpan[], name: string, kind: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name && span.kind === kind);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/**
 * The spans of a quote after its entry. Only another shard than the maker's home asks for a token, and only the
 * first time.
 */
function wayOf(root: string, shard: number): string[] {
  const owner = `owner-${shard}`;
  const home = `owner-${homeShard(maker.accountId)}`;
  const tokens = [
    `${owner}: tokens internal < submit server`,
    `${owner}: take_tokens client < tokens internal`,
    `${home}: take_tokens server < take_tokens client`,
  ];
  return [
    `gateway-0: ${root} server < `,
    `gateway-0: submit client < ${root} server`,
    `${owner}: submit server < submit client`,
    ...(owner === home ? [] : tokens),
    ...['queue', 'reserve', 'decide', 'journal wait', 'journal append'].map(
      (stage) => `${owner}: ${stage} internal < submit server`,
    ),
  ].sort();
}

describe('a quote over HTTP', () => {
  const requestId = 'a-quote-over-http';
  const way = (): string[] => wayOf('POST /v1/auctions/{auctionID}/quotes', shardOfId(auction.auction_id));
  let spans: ReceivedSpan[];

  beforeAll(async () => {
    const headers = {
      'idempotency-key': 'key-of-the-http-quote',
      'x-request-id': requestId,
      traceparent: `00-${A_TRACE_OF_THE_CALLER}-b7ad6b7169203331-01`,
    };
    const path_ = `/v1/auctions/${auction.auction_id}/quotes`;
    const body = { ...TERMS, client_reference: REFERENCE };
    const answer = await maker.api.send<{ quote_id: string }>('POST', path_, { headers, body });
    private_.push('key-of-the-http-quote', REFERENCE, mustBe(201, answer).quote_id);
    const isOurs = ({ attributes }: ReceivedSpan): boolean => attributes['sotto.request_id'] === requestId;
    spans = await traceOf(isOurs, way());
  });

  it('is one trace, from the edge of the gateway to the append to the journal of the owner', () => {
    expect(shapeOf(spans)).toEqual(way());
    expect(new Set(spans.map(({ process }) => process)).size).toBe(3);
    const known = receiver.spans.filter(({ attributes }) => attributes['sotto.request_id'] === requestId);
    expect(new Set(known.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it("has the request and the answer's status", () => {
    expect(only(spans, 'POST /v1/auctions/{auctionID}/quotes', 'server').attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/auctions/{auctionID}/quotes',
      'http.response.status_code': 201,
      'sotto.operation': 'submitQuote',
      'sotto.request_id': requestId,
    });
    const asked = only(spans, 'submit', 'client').attributes;
    expect(asked).toEqual({
      'sotto.operation': 'submit',
      'sotto.shard': shardOfId(auction.auction_id),
      'http.response.status_code': 201,
    });
    const append = only(spans, 'journal append', 'internal').attributes;
    expect(Object.keys(append).sort()).toEqual(['sotto.journal.first_sequence', 'sotto.journal.records']);
    expect(append['sotto.journal.records']).toBeGreaterThanOrEqual(1);
    expect(append['sotto.journal.first_sequence']).toBeGreaterThanOrEqual(1);
  });

  it('has its stages in order, each within its parent', () => {
    const parent = only(spans, 'submit', 'server');
    const stages = ['tokens', 'queue', 'reserve', 'decide', 'journal wait', 'journal append'];
    const times = stages.map((name) => only(spans, name, 'internal'));
    let last = parent.from;
    for (const { from, to } of times) {
      expect(from + CLOCK_STEP).toBeGreaterThanOrEqual(last);
      expect(to).toBeGreaterThanOrEqual(from);
      last = to;
    }
    expect(last).toBeLessThanOrEqual(parent.to + CLOCK_STEP);
  });

  it('does not continue a trace of the caller', () => {
    expect(receiver.ofTrace(A_TRACE_OF_THE_CALLER)).toEqual([]);
    expect(receiver.bodies.join('')).not.toContain(A_TRACE_OF_THE_CALLER);
  });

  it("is named in the gateway's log lines about it", () => {
    const log = readFileSync(path.join(folder, 'logs/gateway-0.log'), 'utf8');
    const lines = log.split('\n').filter((line) => line.includes(`"request_id":"${requestId}"`));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toContain(`"trace_id":"${spans[0]!.traceId}"`);
  });
});

it('a quote over a stream is one trace as well', async () => {
  const client = await floor.listen('maker-1');
  // At the maker's home: elsewhere the time of the last quote decides whether a token is needed.
  const home = homeShard(maker.accountId);
  const answer = await client.command('quote.submit', {
    auction_id: (await opens(home)).auction_id,
    ...TERMS,
  });
  expect(answer.status).toBe(201);
  const spans = await traceOf(({ name }) => name === 'quote.submit', wayOf('quote.submit', home));
  const { attributes } = only(spans, 'quote.submit', 'server');
  expect(attributes).toEqual({
    'http.response.status_code': 201,
    'sotto.operation': 'submitQuote',
    'sotto.request_id': expect.any(String),
  });
});

it('a refusal has its code and is not an error', async () => {
  const headers = { 'x-request-id': 'a-refused-quote' };
  const path_ = `/v1/auctions/${auction.auction_id}/quotes`;
  const refused = await originator.api.send('POST', path_, {
    headers: { ...headers, 'idempotency-key': 'refused' },
    body: TERMS,
  });
  expect(refused.status).toBe(403);
  await eventually(() => {
    const root = receiver.spans.find(
      ({ kind, attributes }) =>
        kind === 'server' &&
        attributes['sotto.request_id'] === 'a-refused-quote' &&
        'http.route' in attributes,
    );
    expect(root?.attributes).toMatchObject({ 'http.response.status_code': 403, 'error.type': 'forbidden' });
    expect(root?.isError).toBe(false);
  });
});

it('the settlement of an award is a trace of its own, through the ledger and back to the journal', async () => {
  const { auction_id: id, closes_at: closes } = await opens(0, { duration_ms: 5_000 });
  private_.push((await maker.quotes(id, PRICE, 10)).quote_id);
  await untilPast(closes);
  await originator.until(id, 'SETTLED');
  const spans = await eventually(() => {
    const root = receiver.spans.find(({ name }) => name === 'settle award');
    const found = receiver.ofTrace(root?.traceId ?? '');
    const appends = found.filter(({ name }) => name === 'journal append');
    expect(appends).toHaveLength(2);
    expect(found.map(({ name }) => name)).toContain('settle award');
    return found;
  });
  const shape = shapeOf(spans);
  expect(shape).toContain('settler: settle award internal < ');
  expect(shape).toContain('settler: ledger internal < settle award internal');
  expect(
    shape.filter((line) => line === 'settler: execution_report client < settle award internal'),
  ).toHaveLength(2);
  expect(
    shape.filter((line) => line === 'owner-0: journal append internal < execution_report server'),
  ).toHaveLength(2);
  expect(only(spans, 'ledger', 'internal').attributes).toEqual({
    'sotto.attempt': 1,
    'sotto.outcome': 'SETTLED',
  });
});

describe('the export', () => {
  it('goes to the right place, with the configured header', () => {
    expect(new Set(receiver.paths)).toEqual(new Set(['POST /v1/traces']));
    for (const headers of receiver.headers) expect(headers['x-collector-key']).toBe(COLLECTOR_KEY);
  });

  it('contains nothing private, in any byte', async () => {
    const tokens = await Promise.all([floor.token('maker-1'), floor.newToken('originator-1')]);
    const users = cluster.file.demo.users.flatMap(({ email, account_id: id }) => [email, id]);
    const figures = [PRICE, TERMS.quantity_atoms, 10 * CONTRACT, CONTRACT].map(String);
    const { contract_id: contract } = floor.contract('venue_a');
    const kept = [
      ...private_,
      ...tokens,
      ...users,
      ...figures,
      contract,
      'venue_a',
      cluster.file.demo.password,
    ];
    // Times and random ids may contain any digits.
    const drawn = /"(?:start|end)TimeUnixNano":"\d+"|"(?:traceId|spanId|parentSpanId)":"[0-9a-f]+"/g;
    const bytes = receiver.bodies.join('\n').replaceAll(drawn, '');
    expect(bytes).toContain('a-quote-over-http');
    expect(kept.length).toBeGreaterThan(15);
    expect(kept.filter((what) => bytes.includes(what))).toEqual([]);
  });

  it('has no attribute that is not on the list', () => {
    const names = new Set(receiver.spans.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...names].sort()).toEqual([
      'error.type',
      'http.request.method',
      'http.response.status_code',
      'http.route',
      'sotto.attempt',
      'sotto.journal.first_sequence',
      'sotto.journal.records',
      'sotto.operation',
      'sotto.outcome',
      'sotto.request_id',
      'sotto.shard',
    ]);
  });

  it('is counted', async () => {
    await eventually(async () => {
      const text = await metricsOf('gateway-0');
      expect(Number(/^sotto_trace_spans_exported_total\S* (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(10);
      expect(/^sotto_trace_spans_dropped_total\S* (\d+)$/m.exec(text)?.[1]).toBe('0');
    });
  });
});

async function metricsOf(name: string): Promise<string> {
  return (await fetch(cluster.process(name).metrics_url)).text();
}

/** The median in milliseconds of this many quotes, one after another. */
async function middleOf(count: number): Promise<number> {
  const { auction_id: id } = await opens(shardOfId(auction.auction_id));
  let quote = await maker.quotes(id, PRICE, 1);
  const times: number[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const began = performance.now();
    const price = PRICE + 10_000 * (sent % 2 === 0 ? 1 : 0);
    quote = mustBe(200, await maker.revise(quote, { price_atoms: price, quantity_atoms: CONTRACT }));
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[Math.floor(count / 2)]!;
}

describe('without a collector', () => {
  it('commands are answered as fast, spans are dropped and counted, and everything stops in time', async () => {
    const usual = await middleOf(60);
    receiver.mood = 'hangs';
    const hanging = await middleOf(60);
    await eventually(async () => {
      const dropped = /^sotto_trace_spans_dropped_total\S* (\d+)$/m.exec(await metricsOf('gateway-0'))?.[1];
      expect(Number(dropped)).toBeGreaterThan(0);
    });
    await receiver.close();
    const away = await middleOf(60);
    // A command that waits for the collector in any way takes at least a second.
    expect(Math.max(hanging, away)).toBeLessThan(2 * usual + 100);
    const log = readFileSync(path.join(folder, 'logs/gateway-0.log'), 'utf8');
    expect(log.split('\n').filter((line) => line.includes('traces cannot be exported'))).toHaveLength(1);
    const began = performance.now();
    expect(await cluster.stop()).toBe(0);
    expect(performance.now() - began).toBeLessThan(9_000);
    // Each has ended by itself: none had to be killed.
    for (const name of ['gateway-0', 'settler', 'owner-0', 'owner-1', 'owner-2']) {
      const lines = readFileSync(path.join(folder, `logs/${name}.log`), 'utf8')
        .trimEnd()
        .split('\n');
      expect([name, lines.at(-1)]).toEqual([name, expect.stringContaining('"msg":"stopped"')]);
    }
  });
});

describe('without traces', () => {
  const NOTES_WHAT_IS_LOADED = `
    import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { console.error('loads ' + url); return next(url, context); } });
  `;

  it.each(['gateway', 'owner', 'settler'])('a %s loads nothing of OpenTelemetry', (app) => {
    const hook = `data:text/javascript,${encodeURIComponent(NOTES_WHAT_IS_LOADED)}`;
    // It rejects its settings, which happens after all its modules were loaded.
    const { status, stderr } = spawnSync(process.execPath, ['--import', hook, `dist/apps/${app}/main.js`], {
      env: {},
      encoding: 'utf8',
    });
    expect(status).toBe(78);
    expect(stderr).toContain('/libs/platform/tracing/open-tracing.js');
    // prom-client loads the interfaces alone, for exemplars.
    const loaded = /@opentelemetry\/(?!api\/)|\/otlp-/;
    expect(stderr.split('\n').filter((line) => loaded.test(line))).toEqual([]);
  });
});

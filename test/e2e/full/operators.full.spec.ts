import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson } from '#libs/client/wire.js';
import {
  OperatorFloor,
  type Action,
  type Fields,
  type HaltJson,
  type ShardRowJson,
} from '../operator-floor.js';
import {
  auctionBody,
  CONTRACT,
  INSTANT,
  kinds,
  mustBe,
  only,
  UUID,
  verdict,
  type Trader,
} from '../trading-floor.js';

jest.setTimeout(60_000);

let ops: OperatorFloor;
let operator: Trader;
let originator: Trader;
let makers: readonly [Trader, Trader];

beforeAll(async () => {
  ops = await OperatorFloor.open();
  ({ operator, originator, makers } = ops);
}, 90_000);

afterEach(() => ops.liftAll());

afterAll(() => ops.close());

/** An id without auction or account. */
const NOWHERE = '00000000-0000-4000-8000-000000000000';

const CALLS: readonly [string, string, Fields?][] = [
  ['GET', 'shards'],
  ['POST', 'shards/1/drain', {}],
  ['POST', 'shards/1/resume', {}],
  ['GET', 'halts'],
  ['POST', 'halts', { scope: 'GLOBAL', what: ['QUOTE'], reason: 'drill' }],
  ['DELETE', `halts/${randomUUID()}`],
  ['POST', `auctions/${NOWHERE}/void`, { reason: 'drill' }],
  ['GET', 'actions'],
  ['GET', 'limits'],
  ['GET', `accounts/${randomUUID()}/limits`],
];

describe('for anyone but operators', () => {
  it.each(['originator-1', 'maker-1', 'auditor-1', 'viewer-1', 'outsider-1'])(
    'the paths do not exist: %s gets the bytes of an unknown path',
    async (name) => {
      const { api } = await ops.floor.trader(name);
      const unchanging = ({ status, headerNames, headers, text }: ApiAnswer): unknown => {
        const kept = Object.entries(headers).filter(
          ([header]) => header !== 'date' && header !== 'x-request-id',
        );
        return { status, headerNames, kept, text };
      };
      for (const [method, path, body] of CALLS) {
        const asked = { ...(body === undefined ? {} : { body }) };
        const nowhere = unchanging(await api.send(method, '/v1/never/was', asked));
        expect(nowhere).toMatchObject({ status: 404, text: '{"error":"not_found"}' });
        expect([path, unchanging(await api.send(method, `/v1/ops/${path}`, asked))]).toEqual([path, nowhere]);
        // A wrong method, id or body does not reveal the path either.
        const wrong = await api.send('PUT', `/v1/ops/${path}`, { raw: '{' });
        expect([wrong.status, wrong.text]).toEqual([404, '{"error":"not_found"}']);
      }
      expect((await ops.actions()).filter(({ by }) => by !== operator.accountId)).toEqual([]);
    },
  );

  it('without a token there is a 401', async () => {
    for (const [method, path] of CALLS) {
      expect(verdict(await ops.floor.anybody.send(method, `/v1/ops/${path}`))).toBe('401 unauthorized');
    }
  });
});

describe("an operator's request", () => {
  const long = 'r'.repeat(201);
  const good = { scope: 'GLOBAL', what: ['CREATE'], reason: 'drill' };
  const table: [string, unknown, string][] = [
    ['shards/1/drain', undefined, '400 invalid_json'],
    ['shards/1/drain', { until: 'noon' }, '400 invalid_json'],
    ['shards/1/drain', { reason: 1 }, '400 invalid_json'],
    ['shards/1/drain', { reason: '' }, '400 invalid_request'],
    ['shards/1/drain', { reason: long }, '400 invalid_request'],
    ['shards/1/resume', { reason: 'two\nlines' }, '400 invalid_request'],
    ['shards/one/drain', {}, '400 invalid_request'],
    ['shards/01/drain', {}, '400 invalid_request'],
    ['shards/3/drain', {}, '404 not_found'],
    ['shards/3/resume', {}, '404 not_found'],
    ['halts', {}, '400 invalid_json'],
    ['halts', { ...good, scope: 'SERVICE' }, '400 invalid_json'],
    ['halts', { ...good, what: ['CANCEL'] }, '400 invalid_json'],
    ['halts', { ...good, what: 'CREATE' }, '400 invalid_json'],
    ['halts', { ...good, reason: undefined }, '400 invalid_json'],
    ['halts', { ...good, by: 'somebody' }, '400 invalid_json'],
    ['halts', { ...good, idempotency_key: 'k' }, '400 invalid_json'],
    ['halts', { ...good, what: [] }, '400 invalid_request'],
    ['halts', { ...good, what: ['CREATE', 'CREATE'] }, '400 invalid_request'],
    ['halts', { ...good, reason: long }, '400 invalid_request'],
    ['halts', { ...good, target: 'venue_a' }, '400 invalid_request'],
    ['halts', { ...good, scope: 'VENUE' }, '400 invalid_request'],
    ['halts', { ...good, scope: 'VENUE', target: 'venue_z' }, '400 invalid_request'],
    ['halts', { ...good, scope: 'MARKET', target: 'no-such-market' }, '400 invalid_request'],
    ['halts', { ...good, scope: 'PRINCIPAL', target: NOWHERE }, '400 invalid_request'],
    ['auctions/nothing/void', { reason: 'drill' }, '400 invalid_auction_id'],
    [`auctions/${NOWHERE}/void`, {}, '400 invalid_json'],
    [`auctions/${NOWHERE}/void`, { reason: '' }, '400 invalid_request'],
    [`auctions/${NOWHERE}/void`, { reason: 'drill' }, '404 auction_not_found'],
  ];
  it.each(table)('POST %s %j is answered with %s', async (path, body, expected) => {
    expect(verdict(await ops.post(path, body))).toBe(expected);
  });

  it('leaves nothing when it is refused', async () => {
    expect(mustBe(200, await operator.api.get('/v1/ops/halts'))).toEqual({ halts: [] });
    for (const row of await ops.shards()) expect(row.state).toBe('ACTIVE');
  });

  it('for reads: ids and queries are checked as everywhere', async () => {
    const calls: [string, string, string][] = [
      ['DELETE', 'halts/x', '400 invalid_request'],
      ['DELETE', `halts/${randomUUID()}`, '404 not_found'],
      ['GET', 'accounts/x/limits', '400 invalid_request'],
      ['GET', `accounts/${randomUUID()}/limits`, '404 not_found'],
      ['GET', 'actions?limit=51', '400 invalid_list_page'],
      ['GET', 'actions?cursor=x', '400 invalid_list_page'],
      ['PUT', 'halts', '405 method_not_allowed'],
    ];
    for (const [method, path, expected] of calls) {
      expect([path, verdict(await operator.api.send(method, `/v1/ops/${path}`))]).toEqual([path, expected]);
    }
  });
});

describe('a halt', () => {
  let auction: AuctionJson;

  beforeAll(async () => {
    auction = await originator.opens(
      auctionBody(ops.floor.contract('venue_a'), makers, { duration_ms: 600_000 }),
    );
  });
  afterAll(() => originator.cancel(auction.auction_id));

  const here = (): Fields => auctionBody(ops.floor.contract('venue_a'), makers);
  const sameVenue = (): Fields => auctionBody(ops.floor.contract('venue_a', 1), makers);
  const otherVenue = (): Fields => auctionBody(ops.floor.contract('venue_e'), makers);
  /** The answers to creates here, at the venue and elsewhere, and to quotes by both makers. */
  async function verdicts(): Promise<readonly string[]> {
    const creates = [
      await ops.creating(here()),
      await ops.creating(sameVenue()),
      await ops.creating(otherVenue()),
    ];
    const quotes = [
      await ops.quoting(makers[0], auction.auction_id),
      await ops.quoting(makers[1], auction.auction_id),
    ];
    return [...creates, ...quotes].map((told) => told.replace(/^(201|422) ?/, '') || 'yes');
  }
  const free = ['yes', 'yes', 'yes', 'yes', 'yes'];
  const S = 'SERVICE_HALTED';
  const V = 'VENUE_HALTED';
  const M = 'MARKET_NOT_TRADABLE';
  const P = 'PRINCIPAL_SUSPENDED';
  const table: [string, () => string | undefined, readonly string[], readonly string[]][] = [
    ['GLOBAL', () => undefined, ['CREATE', 'QUOTE'], [S, S, S, S, S]],
    ['GLOBAL', () => undefined, ['QUOTE'], ['yes', 'yes', 'yes', S, S]],
    ['VENUE', () => 'venue_a', ['CREATE', 'QUOTE'], [V, V, 'yes', V, V]],
    ['VENUE', () => 'venue_a', ['CREATE'], [V, V, 'yes', 'yes', 'yes']],
    ['MARKET', () => ops.floor.contract('venue_a').contract_id, ['CREATE', 'QUOTE'], [M, 'yes', 'yes', M, M]],
    ['PRINCIPAL', () => makers[0].accountId, ['CREATE', 'QUOTE'], ['yes', 'yes', 'yes', P, 'yes']],
    ['PRINCIPAL', () => originator.accountId, ['CREATE', 'QUOTE'], [P, P, P, 'yes', 'yes']],
  ];
  it.each(table)(
    'of scope %s refuses the right commands from its answer on, and nothing else',
    async (scope, target, what, expected) => {
      const quote = await makers[0].quotes(auction.auction_id, 500_000, 1);
      const own = await originator.opens(here());
      const aim = target();
      const began = performance.now();
      const halt = await ops.imposes({ scope, what, ...(aim === undefined ? {} : { target: aim }) });
      expect(performance.now() - began).toBeLessThan(2_000);
      expect(halt).toEqual({
        halt_id: expect.stringMatching(UUID),
        scope,
        what,
        ...(aim === undefined ? {} : { target: aim }),
        reason: 'drill',
        by: operator.accountId,
        created_at: expect.stringMatching(INSTANT),
      });
      expect(mustBe(200, await operator.api.get('/v1/ops/halts'))).toEqual({
        halts: [{ ...halt, display_name: 'Operator 1' }],
      });
      expect((await makers[0].withdraw(quote)).body.status).toBe('WITHDRAWN');
      expect((await originator.cancel(own.auction_id)).body.status).toBe('CANCELLED');
      expect(await verdicts()).toEqual(expected);
      expect((await originator.view(auction.auction_id)).status).toBe('OPEN');
      await ops.lifts(halt);
      expect(await verdicts()).toEqual(free);
    },
  );

  it('imposed twice in the same words exists once; two halts of one thing must both be lifted', async () => {
    const body = { scope: 'VENUE', target: 'venue_a', what: ['QUOTE'], reason: 'drill' };
    const halt = await ops.imposes(body);
    const again = await ops.post<HaltJson>('halts', body, { 'idempotency-key': 'means nothing' });
    expect([again.status, again.body]).toEqual([200, halt]);
    const other = await ops.imposes({ ...body, reason: 'another' });
    await ops.lifts(halt);
    expect(await ops.quoting(makers[0], auction.auction_id)).toBe('422 VENUE_HALTED');
    await ops.lifts(other);
    expect(await ops.quoting(makers[0], auction.auction_id)).toBe('201');
    const gone = await operator.api.send('DELETE', `/v1/ops/halts/${halt.halt_id}`);
    expect(verdict(gone)).toBe('404 not_found');
    const told = await ops.actions();
    const of = (id: string): unknown[] =>
      told.filter(({ target }) => target === id).map(({ action }) => action);
    expect([of(halt.halt_id), of(other.halt_id)]).toEqual([
      ['LIFT_HALT', 'IMPOSE_HALT'],
      ['LIFT_HALT', 'IMPOSE_HALT'],
    ]);
  });
});

describe('a void', () => {
  it('ends the auction for all parties, releases everything, and does not show which operator did it', async () => {
    const { auction_id: id } = await ops.opensOn(2);
    const capacity = async (): Promise<readonly string[]> => {
      const probe = await ops.opensOn(2);
      const found = [];
      for (const maker of makers) {
        const verdict_ = mustBe(200, await maker.preflightQuote(probe.auction_id, 500_000, CONTRACT));
        found.push(verdict_.maximum_executable_quantity_atoms);
      }
      mustBe(200, await originator.cancel(probe.auction_id));
      return found;
    };
    const before = await capacity();
    for (const [at, maker] of makers.entries()) await maker.quotes(id, 400_000 + at * 10_000, 10);
    expect(await capacity()).not.toEqual(before);
    const voided = await ops.post(
      `auctions/${id}/void`,
      { reason: 'wrong contract' },
      { 'x-request-id': 'void-1' },
    );
    expect([voided.status, voided.body]).toEqual([200, { auction_id: id, status: 'VOIDED' }]);
    expect(await capacity()).toEqual(before);
    await eventually(async () => {
      for (const { accountId } of makers) expect(await ops.books.reserved(accountId)).toEqual({});
    });

    const everything: string[] = [];
    for (const party of [originator, ...makers]) {
      const view = await party.view(id);
      const timeline = await party.timeline(id);
      expect([view.status, view.phase]).toEqual(['VOIDED', 'COMPLETED']);
      expect(kinds(timeline).slice(-2)).toEqual(['AUCTION_VOIDED', 'AUCTION_COMPLETED']);
      expect(only(timeline, 'AUCTION_VOIDED').actor).toBe('OPERATOR');
      everything.push(JSON.stringify([view, timeline, await party.myQuotes(id)]));
    }
    expect((await originator.view(id)).cancellation).toMatchObject({ cancelled_by: 'OPERATOR' });
    expect(Object.keys((await makers[0].view(id)).cancellation!)).toEqual(['cancelled_at']);
    expect((await makers[0].myQuotes(id)).map(({ status }) => status)).toEqual(['RELEASED']);
    for (const text of everything) {
      expect(text).not.toContain(operator.accountId);
      expect(text).not.toContain('Operator 1');
      expect(text).not.toContain('void-1');
    }

    // Repeated, the answer is the same from the owner and from the projections.
    expect((await ops.post(`auctions/${id}/void`, { reason: 'again' })).body).toEqual(voided.body);
    await originator.untilCompletedRead(id);
    expect((await ops.post(`auctions/${id}/void`, { reason: 'again' })).body).toEqual(voided.body);
    const [record] = await ops.books.rows<{ payload: string }>(
      `select payload from journal.records where payload like '%AUCTION_VOIDED%' and payload like '%' || $1 || '%'`,
      [id],
    );
    expect(record!.payload).toContain(operator.accountId);
    expect(record!.payload).toContain('void-1');
  });

  it('of an auction that is already over is refused', async () => {
    const { auction_id: id } = await ops.opensOn(0);
    mustBe(200, await originator.cancel(id));
    expect(verdict(await ops.post(`auctions/${id}/void`, { reason: 'late' }))).toBe('422 AUCTION_NOT_OPEN');
    await originator.untilCompletedRead(id);
    expect(verdict(await ops.post(`auctions/${id}/void`, { reason: 'late' }))).toBe('422 AUCTION_NOT_OPEN');
  });
});

describe('limits', () => {
  it('are shown as configured, and for one account with the remaining tokens', async () => {
    const service = mustBe(200, await operator.api.get<{ buckets: Fields[] }>('/v1/ops/limits'));
    expect(service).toMatchObject({ limits_factor: 50, bounds: { audience_makers: 64 } });
    expect(service.buckets[0]).toEqual({
      bucket: 'create',
      scope: 'ACCOUNT',
      rate_per_second: 100,
      burst: 200,
    });
    const path = `/v1/ops/accounts/${makers[0].accountId}/limits`;
    const account = mustBe(200, await operator.api.get<Fields & { buckets: Fields[] }>(path));
    const own = mustBe(200, await makers[0].api.get<{ buckets: Fields[] }>('/v1/me/limits'));
    expect(account.buckets.map(({ bucket, burst }) => [bucket, burst])).toEqual(
      own.buckets.map(({ bucket, burst }) => [bucket, burst]),
    );
    expect(account.buckets[2]).toHaveProperty('available');
    expect(account).toMatchObject({
      account_id: makers[0].accountId,
      display_name: 'Market Maker 1',
      suspended: false,
      may_create: false,
      may_quote: true,
      entitled_venues: ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e'],
    });
    expect(await operator.api.get(`/v1/ops/accounts/${originator.accountId}/limits`)).toMatchObject({
      body: { control_group: 'demo-house-1', may_create: true },
    });
  });
});

describe('an owner that', () => {
  async function told(shard: number, within: number): Promise<ShardRowJson> {
    const began = performance.now();
    const row = await ops.rowOf(shard);
    expect(performance.now() - began).toBeLessThan(within);
    return row;
  }

  it('is paused is UNREACHABLE within a second, with what the database knows', async () => {
    const before = await ops.rowOf(1);
    const pid = ops.cluster.kill('owner-1', 'SIGSTOP');
    try {
      for (let look = 0; look < 3; look += 1) {
        const row = await told(1, 1_000);
        expect(row).toMatchObject({ state: 'UNREACHABLE', epoch: before.epoch });
        expect(row.journal_head!).toBeGreaterThanOrEqual(before.journal_head!);
        expect(Object.keys(row)).not.toEqual(expect.arrayContaining(['active_auctions', 'recovery']));
      }
      const refused = await ops.post('shards/1/drain', {}, { 'x-request-id': 'frozen-1' });
      expect(verdict(refused)).toBe('503 auction_owner_unavailable');
      // A halt does not wait for it either.
      const began = performance.now();
      await ops.lifts(await ops.imposes({ scope: 'VENUE', target: 'venue_e' }));
      expect(performance.now() - began).toBeLessThan(4_000);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const outcomes = (await ops.actions()).filter(({ request_id: id }) => id === 'frozen-1');
    expect(outcomes.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['UNKNOWN', 'auction_owner_unavailable'],
      ['ASKED', undefined],
    ]);
    await eventually(async () => {
      expect(mustBe(200, await ops.post<ShardRowJson>('shards/1/resume', {})).state).toBe('ACTIVE');
    });
  });

  it('dies is UNREACHABLE, then RECOVERING, then ACTIVE, in a new epoch', async () => {
    const before = await ops.rowOf(1);
    // A recovery that cannot read its snapshot lasts until the test has seen it.
    await ops.books.whileLocked('journal.snapshots', async () => {
      ops.cluster.kill('owner-1');
      await eventually(async () => expect((await told(1, 1_000)).state).toBe('UNREACHABLE'));
      await eventually(async () => expect((await ops.rowOf(1)).state).toBe('RECOVERING'));
    });
    await eventually(async () => expect((await ops.rowOf(1)).state).toBe('ACTIVE'));
    const after = await ops.rowOf(1);
    expect(after.epoch).toBe(before.epoch! + 1);
    expect(after.recovery!.events).toBeGreaterThan(0);
  });
});

describe("the record of operators' actions", () => {
  it('has operator, action and outcome, newest first, and cannot be changed', async () => {
    const { auction_id: id } = await ops.opensOn(0);
    mustBe(
      200,
      await ops.post(`auctions/${id}/void`, { reason: 'for the book' }, { 'x-request-id': 'book-1' }),
    );
    const [done, asked] = (await ops.actions()).filter(({ request_id: request }) => request === 'book-1');
    const entry = {
      entry: expect.any(Number),
      action_id: expect.stringMatching(UUID),
      action: 'VOID_AUCTION',
      by: operator.accountId,
      display_name: 'Operator 1',
      target: id,
      reason: 'for the book',
      request_id: 'book-1',
      at: expect.stringMatching(INSTANT),
    };
    expect([done, asked]).toEqual([
      { ...entry, outcome: 'DONE' },
      { ...entry, outcome: 'ASKED' },
    ]);
    expect(done!.action_id).toBe(asked!.action_id);
    await expect(ops.books.rows('delete from control.operator_actions')).rejects.toThrow('append-only');
  });

  it('has pages without gaps', async () => {
    const seen: Action[] = [];
    let cursor = '';
    do {
      const page = mustBe(
        200,
        await operator.api.get<{ actions: Action[]; next_cursor?: string }>(
          `/v1/ops/actions?limit=7${cursor}`,
        ),
      );
      seen.push(...page.actions);
      cursor = page.next_cursor === undefined ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    const [{ count } = { count: '' }] = await ops.books.rows<{ count: string }>(
      'select count(*)::text as count from control.operator_actions',
    );
    expect(String(new Set(seen.map(({ entry }) => entry)).size)).toBe(count);
    expect(seen.map(({ entry }) => entry)).toEqual(seen.map(({ entry }) => entry).sort((a, b) => b - a));
  });
});

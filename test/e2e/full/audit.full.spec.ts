import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { judge } from '#apps/replay/verdict.js';
import { publicKeysIn } from '#apps/replay/public-keys.js';
import type { AuditView } from '#libs/auction/rules/audit/audit.js';
import type { ReplayBundle } from '#libs/auction/rules/replay/bundle.js';
import { ApiClient, type ApiAnswer } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import {
  auctionBody,
  CONTRACT,
  INSTANT,
  mustBe,
  plainFloor,
  type Trader,
  type TradingFloor,
  untilPast,
  verdict,
} from '../trading-floor.js';

const NOTE = 'note-for-nobody-else';
const AUDIT = '/v1/audit/auctions';
const KINDS = ['won', 'split', 'unawarded', 'cancelled', 'voided'] as const;
type Kind = (typeof KINDS)[number];

interface Row {
  readonly auction_id: string;
  readonly status: string;
  readonly opened_at: string;
  readonly completed_at: string;
}
interface Page {
  readonly auctions: readonly Row[];
  readonly next_cursor?: string;
}

let floor: TradingFloor;
let books: ServiceRecords;
let makers: Trader[];
let originators: Trader[];
let auditor: ApiClient;
/** The same auditor at the other gateway. */
let elsewhere: ApiClient;
let secrets: string[];
const ids = {} as Record<Kind, string>;

beforeAll(async () => {
  floor = await plainFloor();
  books = new ServiceRecords(floor.cluster);
  makers = await floor.traders('maker-1', 'maker-2', 'maker-3');
  originators = await floor.traders('originator-1', 'originator-2', 'originator-3');
  const second = floor.cluster.process('gateway-1').url!;
  const { password } = floor.cluster.file.demo;
  auditor = await floor.anybody.login('auditor-1@demo.sotto', password);
  elsewhere = await new ApiClient(second).login('auditor-1@demo.sotto', password);
  const opened = await Promise.all([won(), split(), unawarded(), cancelled(), voided()]);
  opened.forEach((view, index) => (ids[KINDS[index]!] = view.auction_id));
  await eventually(async () => {
    for (const id of Object.values(ids)) mustBe(200, await auditor.get(`${AUDIT}/${id}`));
  }, 20_000);
  secrets = await secretsOf(opened);
}, 90_000);

afterAll(async () => {
  auditor.close();
  elsewhere.close();
  await books.close();
  await floor.end();
});

function body(index: number, differing: Record<string, unknown>): Record<string, unknown> {
  return auctionBody(floor.contract('venue_e', index), makers, {
    duration_ms: 3_000,
    client_reference: NOTE,
    ...differing,
  });
}

/** With a refusal, revisions, a withdrawal and a quote that expires. */
async function won(): Promise<AuctionJson> {
  const [one, two, three] = makers as [Trader, Trader, Trader];
  const opened = await originators[0]!.opens(body(0, { limit_price_atoms: 700_000, duration_ms: 5_000 }));
  const id = opened.auction_id;
  const soon = new Date(Date.now() + 1_500).toISOString();
  await one.submit(id, { price_atoms: 1, quantity_atoms: 10 * CONTRACT });
  const first = await one.quotes(id, 600_000, 10, { client_reference: NOTE });
  await two.quotes(id, 500_000, 10, { expires_at: soon });
  const third = await three.quotes(id, 400_000, 10);
  await three.withdraw(third);
  await three.quotes(id, 800_000, 10);
  const revised = mustBe(200, await one.revise(first, { price_atoms: 590_000 }));
  await one.revise(revised, { quantity_atoms: 10 * CONTRACT, client_reference: NOTE });
  await untilPast(soon, 500);
  await two.quotes(id, 590_000, 10);
  await originators[0]!.until(id, 'SETTLED');
  return opened;
}

async function split(): Promise<AuctionJson> {
  const opened = await originators[1]!.opens(
    body(1, { side: 'SELL', allocation: 'SPLIT', max_winners: 2, min_fill_quantity_atoms: 5 * CONTRACT }),
  );
  const [one, two, three] = makers as [Trader, Trader, Trader];
  await one.quotes(opened.auction_id, 400_000, 6);
  await two.quotes(opened.auction_id, 450_000, 7, { min_quantity_atoms: 2 * CONTRACT });
  await three.quotes(opened.auction_id, 400_000, 3);
  await originators[1]!.until(opened.auction_id, 'SETTLED');
  return opened;
}

async function unawarded(): Promise<AuctionJson> {
  const opened = await originators[2]!.opens(body(2, { limit_price_atoms: 300_000 }));
  await makers[0]!.quotes(opened.auction_id, 310_000, 10);
  await makers[1]!.quotes(opened.auction_id, 300_000, 9);
  await originators[2]!.until(opened.auction_id, 'NO_AWARD');
  return opened;
}

async function cancelled(): Promise<AuctionJson> {
  const opened = await originators[1]!.opens(body(3, {}));
  await makers[2]!.quotes(opened.auction_id, 310_000, 2);
  mustBe(200, await originators[1]!.cancel(opened.auction_id, { reason: 'changed my mind' }));
  return opened;
}

async function voided(): Promise<AuctionJson> {
  const opened = await originators[2]!.opens(body(4, { quote_revision_policy: 'FINAL' }));
  await makers[2]!.quotes(opened.auction_id, 310_000, 2);
  const operator = await floor.trader('operator-1');
  mustBe(
    200,
    await operator.api.post(`/v1/ops/auctions/${opened.auction_id}/void`, { reason: 'a mistake' }, null),
  );
  return opened;
}

/** All texts that identify a party of these auctions, even if other callers may see them. */
async function secretsOf(opened: readonly AuctionJson[]): Promise<string[]> {
  const { users } = floor.cluster.file.demo;
  const views = await Promise.all(
    opened.flatMap(({ auction_id: id }) => [...makers, ...originators].map((one) => one.get(id))),
  );
  const aliases = views.flatMap(({ text }) =>
    [...text.matchAll(/"alias":"([^"]+)"/g)].map(([, name]) => name!),
  );
  const names = await books.rows<{ display_name: string }>('select display_name from control.principals');
  expect(aliases.length).toBeGreaterThan(5);
  expect(names.length).toBeGreaterThan(10);
  return [
    ...users.map(({ account_id: id }) => id),
    ...users.map(({ email }) => email),
    ...names.map(({ display_name: name }) => name),
    ...aliases,
    ...[NOTE, '@demo', 'request_id', 'connection_id', 'idempotency'],
  ];
}

async function view(kind: Kind, api = auditor): Promise<AuditView> {
  return mustBe(200, await api.get<AuditView>(`${AUDIT}/${ids[kind]}`));
}

async function bundle(kind: Kind, api = auditor): Promise<ReplayBundle> {
  return mustBe(200, await api.get<ReplayBundle>(`${AUDIT}/${ids[kind]}/bundle`));
}

function pseudonymsIn(value: unknown): Set<string> {
  return new Set(JSON.stringify(value).match(/P-[A-Z2-9]{16}/g));
}

describe('for anyone but auditors', () => {
  it.each(['originator-1', 'maker-1', 'operator-1', 'viewer-1', 'outsider-1'])(
    'the paths do not exist: %s',
    async (name) => {
      const { api } = await floor.trader(name);
      const nowhere = await api.get(`${AUDIT}/nowhere/at/all`);
      for (const asked of [AUDIT, `${AUDIT}/${ids.won}`, `${AUDIT}/${ids.won}/bundle`, `${AUDIT}?limit=0`]) {
        const answer = await api.get(asked);
        expect([answer.status, answer.text]).toEqual([404, nowhere.text]);
        expect(verdict(await api.post(asked, {}, null))).toBe('404 not_found');
      }
    },
  );

  it('without a session there is a 401, and the public key is public', async () => {
    expect(verdict(await floor.anybody.get(AUDIT))).toBe('401 unauthorized');
    const keys = mustBe(200, await floor.anybody.get<{ keys: object[] }>('/.well-known/audit-keys.json'));
    expect(keys.keys).toEqual([expect.objectContaining({ kty: 'OKP', crv: 'Ed25519' })]);
  });
});

describe('the list of completed auctions', () => {
  it('has each of them once, newest first, in pages, and no live one', async () => {
    const live = await originators[0]!.opens(body(5, { duration_ms: 60_000 }));
    const rows: Row[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const asked: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${cursor}`;
      const page: Page = mustBe(200, await elsewhere.get<Page>(`${AUDIT}${asked}`));
      expect(page.auctions.length).toBeLessThanOrEqual(2);
      rows.push(...page.auctions);
      cursor = page.next_cursor;
    }
    const found = rows.map((row) => row.auction_id);
    expect(found).toEqual(expect.arrayContaining(Object.values(ids)));
    expect(new Set(found).size).toBe(found.length);
    expect(found).not.toContain(live.auction_id);
    const order = rows.map((row) => `${row.opened_at}${row.auction_id}`);
    expect(order).toEqual([...order].sort().reverse());
    for (const row of rows)
      expect([row.opened_at, row.completed_at].every((at) => INSTANT.test(at))).toBe(true);
    expect(rows.find((row) => row.auction_id === ids.voided)?.status).toBe('VOIDED');
    await originators[0]!.cancel(live.auction_id);
  });

  it.each(['limit=0', 'limit=51', 'limit=x', 'cursor=x', 'cursor=', 'limit=1&limit=2', 'status=SETTLED'])(
    'cannot be queried with %s',
    async (query) => {
      expect(verdict(await auditor.get(`${AUDIT}?${query}`))).toBe('400 invalid_list_page');
    },
  );
});

describe('a completed auction', () => {
  it('shows every event, and ranks every quote with its reason', async () => {
    const seen = await view('won');
    expect(seen).toMatchObject({ auction_id: ids.won, status: 'SETTLED', rule_version: 1 });
    expect(seen.events.map(({ type }) => type)).toEqual([
      'AUCTION_OPENED',
      'QUOTE_REJECTED',
      'QUOTE_SUBMITTED',
      'QUOTE_SUBMITTED',
      'QUOTE_SUBMITTED',
      'QUOTE_WITHDRAWN',
      'QUOTE_SUBMITTED',
      'QUOTE_REVISED',
      'QUOTE_REVISED',
      'QUOTE_EXPIRED',
      'QUOTE_SUBMITTED',
      'AUCTION_CLOSED',
      'AUCTION_AWARDED',
      'EXECUTION_SUBMITTED',
      'EXECUTION_CONFIRMED',
      'AUCTION_COMPLETED',
    ]);
    expect(seen.events.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
    expect(seen.ranking.map(({ rank, price_atoms, reason }) => [rank, price_atoms, reason])).toEqual([
      [1, 590_000, 'AWARDED'],
      [2, 590_000, 'OUTRANKED'],
      [undefined, 800_000, 'RESERVE_NOT_MET'],
    ]);
    expect((await view('split')).ranking.map(({ reason }) => reason)).toEqual([
      'AWARDED',
      'PARTIALLY_AWARDED',
      'OUTRANKED',
    ]);
    expect((await view('unawarded')).ranking.map(({ reason }) => reason)).toEqual([
      'MINIMUM_NOT_MET',
      'RESERVE_NOT_MET',
    ]);
  });

  it('is not found while it is live, like one that never existed', async () => {
    const live = await originators[1]!.opens(body(5, { duration_ms: 60_000 }));
    const never = `0${randomUUID().slice(1)}`;
    for (const end of ['', '/bundle']) {
      const answers = await Promise.all(
        [live.auction_id, never].map((id) => auditor.get(`${AUDIT}/${id}${end}`)),
      );
      for (const answer of answers) expect(verdict(answer)).toBe('404 auction_not_found');
      expect(answers[0]!.text).toBe(answers[1]!.text);
      expect(verdict(await auditor.get(`${AUDIT}/${randomUUID().toUpperCase()}${end}`))).toBe(
        '400 invalid_auction_id',
      );
    }
    await originators[1]!.cancel(live.auction_id);
  });

  it('has the same pseudonyms and the same bundle at every gateway', async () => {
    for (const kind of KINDS) {
      expect(await view(kind, elsewhere)).toEqual(await view(kind));
      expect(await bundle(kind, elsewhere)).toEqual(await bundle(kind));
    }
  });

  it('has its own pseudonyms: none of them occurs in another auction', async () => {
    const found = await Promise.all(KINDS.map(async (kind) => [...pseudonymsIn(await bundle(kind))]));
    // The originator and three makers of each.
    expect(found.map((names) => names.length)).toEqual(KINDS.map(() => 4));
    expect(new Set(found.flat()).size).toBe(4 * KINDS.length);
  });

  it('shows no name in any byte of any answer', async () => {
    const answers: ApiAnswer[] = [await auditor.get(AUDIT)];
    for (const id of Object.values(ids))
      answers.push(await auditor.get(`${AUDIT}/${id}`), await auditor.get(`${AUDIT}/${id}/bundle`));
    const bytes = answers.map(({ text, headers }) => `${JSON.stringify(headers)}${text}`).join('\n');
    expect(bytes.length).toBeGreaterThan(20_000);
    expect(secrets.filter((secret) => bytes.includes(secret))).toEqual([]);
  });

  it('shows no hash of the journal, which would let a reader guess names', async () => {
    const hashes = await books.rows<{ hash: string }>(
      `select encode(hash, 'hex') as hash from auction_history.events where auction_id = $1`,
      [ids.won],
    );
    const text = JSON.stringify([await view('won'), await bundle('won')]);
    expect(hashes.length).toBeGreaterThan(10);
    expect(hashes.filter(({ hash }) => text.includes(hash))).toEqual([]);
  });
});

describe('every read of an auditor', () => {
  it('is recorded, with who, what, when and the status', async () => {
    const never = `0${randomUUID().slice(1)}`;
    const run = randomUUID();
    const asked: [string, string, number, string[]][] = [
      [`${AUDIT}/${ids.won}`, 'AUCTION', 200, [ids.won]],
      [`${AUDIT}/${ids.won}/bundle`, 'BUNDLE', 200, [ids.won]],
      [`${AUDIT}/${never}`, 'AUCTION', 404, [never]],
    ];
    for (const [index, [target]] of asked.entries())
      await auditor.get(target, { 'x-request-id': `${run}-${index}` });
    const list = await auditor.get<Page>(`${AUDIT}?limit=3`, { 'x-request-id': `${run}-${asked.length}` });
    const listed = list.body.auctions.map((row) => row.auction_id);
    const rows = await books.rows(
      `select what, status, auction_ids, reader_id, gateway, read_at > now() - interval '1 minute' as recent
       from audit.reads where request_id like $1 order by read_id`,
      [`${run}-%`],
    );
    const who = { reader_id: floor.accountOf('auditor-1'), gateway: 'gateway-0', recent: true };
    expect(rows).toEqual([
      ...asked.map(([, what, status, auction_ids]) => ({ ...who, what, status, auction_ids })),
      { ...who, what: 'LIST', status: 200, auction_ids: listed },
    ]);
  });

  it('is not answered if it cannot be recorded', async () => {
    await books.rows('alter table audit.reads rename to reads_put_away');
    try {
      for (const target of [AUDIT, `${AUDIT}/${ids.won}`, `${AUDIT}/${ids.won}/bundle`]) {
        const answer = await auditor.get(target);
        expect([answer.status, answer.text]).toEqual([503, '{"error":"audit_record_unavailable"}']);
      }
    } finally {
      await books.rows('alter table audit.reads_put_away rename to reads');
    }
    mustBe(200, await auditor.get(AUDIT));
  });

  it('is refused if the history cannot be proved complete', async () => {
    const spoilt = async (change: string, wanted: readonly [string, string]): Promise<void> => {
      const kept = await books.rows(
        'select * from auction_history.events where auction_id = $1 order by sequence limit 1 offset 2',
        [ids.split],
      );
      const { sequence, payload } = kept[0] as { sequence: string; payload: string };
      await books.rows(
        `update auction_history.events set ${change} where auction_id = $1 and sequence = $2`,
        [ids.split, sequence],
      );
      try {
        expect([
          verdict(await auditor.get(`${AUDIT}/${ids.split}`)),
          verdict(await auditor.get(`${AUDIT}/${ids.split}/bundle`)),
        ]).toEqual(wanted);
      } finally {
        await books.rows(
          `update auction_history.events set payload = $3, auction_id = $1 where sequence = $2 and auction_id in ($1, $4)`,
          [ids.split, sequence, payload, ids.split.replace(/^.{8}/, 'ffffffff')],
        );
      }
      await bundle('split');
    };
    const incomplete = '503 audit_timeline_incomplete';
    const away = `auction_id = '${ids.split.replace(/^.{8}/, 'ffffffff')}'`;
    await spoilt(away, [incomplete, incomplete]);
    // Only the journal shows that the price was different.
    await spoilt(`payload = replace(payload, '"price_atoms":4', '"price_atoms":3')`, ['200', incomplete]);
  });
});

describe('a replay bundle', () => {
  let folder: string;
  let keyFile: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-replay-'));
    keyFile = path.join(folder, 'keys.json');
    writeFileSync(keyFile, (await floor.anybody.get('/.well-known/audit-keys.json')).text);
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return new Promise((resolve) => {
      execFile(process.execPath, ['dist/apps/replay/main.js', ...args], (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      });
    });
  }

  function replayed(content: unknown, ...args: string[]): ReturnType<typeof run> {
    const file = path.join(folder, 'bundle.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return run(file, ...args);
  }

  it.each(KINDS)('of an auction that was %s gives the same outcome again', async (kind) => {
    const given = await bundle(kind);
    const keys = publicKeysIn((await floor.anybody.get('/.well-known/audit-keys.json')).text);
    const { ok, origin, alterations, contradictions, ranking } = judge(given, keys);
    expect({ alterations, contradictions }).toEqual({ alterations: [], contradictions: [] });
    expect([ok, origin]).toEqual([true, 'VERIFIED']);
    expect(ranking).toEqual((await view(kind)).ranking);
    expect(given.records.map(({ position, data }) => ({ position, data }))).toEqual(
      (await view(kind)).events.map(({ position, data }) => ({ position, data })),
    );
  });

  it('is checked on the command line, which says whether its origin is known', async () => {
    const { text } = await auditor.get(`${AUDIT}/${ids.won}/bundle`);
    const unknown = await replayed(text);
    expect([unknown.code, unknown.err]).toEqual([0, '']);
    expect(unknown.out).toContain('ORIGIN NOT VERIFIED');
    expect(unknown.out).toMatch(/1 {5}P-[A-Z2-9]{16} {2}590000 {2}10000000 {2,}10000000 {2}AWARDED/);
    const known = await replayed(text, '--key', keyFile);
    expect(known.code).toBe(0);
    expect(known.out).not.toContain('NOT VERIFIED');
    const altered = JSON.parse(text) as { records: { data: { quote: { price_atoms: number } } }[] };
    altered.records[4]!.data.quote.price_atoms += 1_000;
    const found = await replayed(altered, '--key', keyFile, '--output', 'json');
    expect(found.code).toBe(1);
    const position = (await bundle('won')).records[4]!.position;
    expect(JSON.parse(found.out)).toMatchObject({
      verdict: 'MISMATCH',
      alterations: [{ record: { number: 5, position, type: 'QUOTE_SUBMITTED' } }],
    });
  });

  it('that cannot be read, or a wrong call, has another exit code than an invalid bundle', async () => {
    const { text } = await auditor.get(`${AUDIT}/${ids.voided}/bundle`);
    expect(await replayed('{"format":', '--key', keyFile)).toMatchObject({ code: 66, out: '' });
    expect(await replayed(text, '--key', path.join(folder, 'nowhere'))).toMatchObject({ code: 66, out: '' });
    expect(await run()).toMatchObject({ code: 64, out: '', err: expect.stringContaining('Usage') });
    expect(await replayed('{}')).toMatchObject({ code: 1, out: expect.stringContaining('NOT OK') });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { AuctionView } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  mustBe,
  sharedFloor,
  type Trader,
  type TradingFloor,
  untilPast,
} from './trading-floor.js';

/** What its observer could see of each answer, with ids and times made the same; their lengths stay. */
class Transcript {
  readonly lines: string[] = [];
  private readonly ids = new Map<string, string>();

  note(what: string, { status, headerNames, headers, text }: ApiAnswer<unknown>): void {
    const shown = Object.entries(headers).filter(([name]) => name !== 'date' && name !== 'x-request-id');
    this.lines.push(
      `${what}: ${status} ${this.plain(JSON.stringify([headerNames, shown]))}\n${this.plain(text)}`,
    );
  }

  private plain(text: string): string {
    return text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => this.nameOf(id))
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z/g, '<time>')
      .replaceAll(/"(alias|next_cursor)":"([^"]*)"/g, (_, name: string, value: string) => {
        return `"${name}":"<${value.length} characters>"`;
      });
  }

  /** The same id is the same again, wherever it comes up. */
  private nameOf(id: string): string {
    const name = this.ids.get(id) ?? `<id ${this.ids.size + 1}>`;
    this.ids.set(id, name);
    return name;
  }
}

type Observer = 'originator' | 'quoting maker' | 'silent maker';
type Transcripts = Readonly<Record<Observer, readonly string[]>>;

const OBSERVERS: readonly Observer[] = ['originator', 'quoting maker', 'silent maker'];
const DURATION_MS = 12_000;

let floor: TradingFloor;
let originator: Trader;
let quoting: Trader;
let silent: Trader;
let competitors: Trader[];

beforeAll(async () => {
  floor = await sharedFloor();
  const names = ['load-originator-3', 'load-maker-11', 'load-maker-12', 'load-maker-13', 'load-maker-14'];
  const [first, second, third, ...others] = await floor.traders(...names);
  [originator, quoting, silent, competitors] = [first!, second!, third!, others];
}, 120_000);

afterAll(() => {
  floor.close();
});

function opens(differing: object = {}): Promise<ApiAnswer<AuctionView>> {
  const makers = [quoting, silent, ...competitors];
  return originator.create(
    auctionBody(floor.contract('venue_c', 4), makers, {
      duration_ms: DURATION_MS,
      limit_price_atoms: 500_000,
      result_disclosure: 'WINNING_PRICE_AND_RANK',
      ...differing,
    }),
  );
}

/** Between any two steps of the others: a better quote, a worse one, revisions, a withdrawal, a refusal. */
async function noise(id: string): Promise<void> {
  const [loud, fickle] = competitors as [Trader, Trader];
  const [standing] = await loud.myQuotes(id);
  if (standing === undefined) await loud.quotes(id, 400_000, 10);
  else await loud.revise(standing, { price_atoms: standing.price_atoms - 1_000 });
  await loud.submit(id, { price_atoms: 1, quantity_atoms: 1 });
  const [active] = (await fickle.myQuotes(id)).filter(({ status }) => status === 'ACTIVE');
  if (active === undefined) await fickle.quotes(id, 600_000, 5);
  else await fickle.withdraw(active);
}

/** The same script each time; only what happens between its steps differs. */
async function perform(meanwhile: (id: string) => Promise<void>): Promise<Transcripts> {
  const [own, bid, quiet] = [new Transcript(), new Transcript(), new Transcript()];
  const key = randomUUID();
  const created = await opens();
  own.note('create', created);
  const { auction_id: id, closes_at: closesAt } = mustBe(201, created);

  const look = async (transcript: Transcript, trader: Trader): Promise<void> => {
    await meanwhile(id);
    transcript.note('view', await trader.get(id));
    transcript.note('list', await trader.api.get('/v1/auctions?limit=1'));
    transcript.note('timeline', await trader.api.get(`/v1/auctions/${id}/events`));
    transcript.note(
      'lines',
      await trader.api.get(`/v1/auctions/${id}/events`, { accept: 'application/x-ndjson' }),
    );
    transcript.note('quotes', await trader.api.get(`/v1/auctions/${id}/quotes`));
    transcript.note('all quotes', await trader.api.get('/v1/quotes?limit=1'));
  };
  const lookAll = async (): Promise<void> => {
    await look(own, originator);
    await look(bid, quoting);
    await look(quiet, silent);
  };

  await lookAll();
  bid.note('preflight', await quoting.preflightQuote(id, 700_000, 7 * CONTRACT));
  await meanwhile(id);
  const submitted = await quoting.submit(id, { price_atoms: 700_000, quantity_atoms: 7 * CONTRACT }, key);
  bid.note('submit', submitted);
  await lookAll();
  bid.note(
    'submit again',
    await quoting.submit(id, { price_atoms: 700_000, quantity_atoms: 7 * CONTRACT }, key),
  );
  bid.note('another', await quoting.submit(id, { price_atoms: 650_000, quantity_atoms: CONTRACT }));
  await meanwhile(id);
  const revised = await quoting.revise(submitted.body, { price_atoms: 690_000 });
  bid.note('revise', revised);
  bid.note('revise late', await quoting.revise(submitted.body, { price_atoms: 680_000 }));
  bid.note('off the grid', await quoting.revise(revised.body, { price_atoms: 680_001 }));
  bid.note('too large', await quoting.revise(revised.body, { quantity_atoms: 11 * CONTRACT }));
  bid.note('preflight', await quoting.preflightQuote(id, 690_000, 7 * CONTRACT));
  await lookAll();
  expect(Date.now()).toBeLessThan(Date.parse(closesAt));

  // What has no result to be told stays the same even when it is over, and while others are still being settled.
  await untilPast(closesAt);
  quiet.note('view', await silent.untilCompletedRead(id));
  quiet.note('list', await silent.api.get('/v1/auctions?limit=1'));
  quiet.note('timeline', await silent.api.get(`/v1/auctions/${id}/events`));
  quiet.note('quotes', await silent.api.get(`/v1/auctions/${id}/quotes`));
  quiet.note('late', await silent.submit(id, { price_atoms: 700_000, quantity_atoms: CONTRACT }));
  quiet.note('late preflight', await silent.preflightQuote(id, 700_000, CONTRACT));
  return { originator: own.lines, 'quoting maker': bid.lines, 'silent maker': quiet.lines };
}

describe('whether or not others quoted', () => {
  let alone: Transcripts;
  let amongOthers: Transcripts;
  let competing = 0;

  beforeAll(async () => {
    const nothing = (): Promise<void> => Promise.resolve();
    // Every list has a next page afterwards, and its first row holds the same in both performances.
    const before = mustBe(201, await opens());
    await quoting.quotes(before.auction_id, 700_000, 1);
    await originator.cancel(before.auction_id);
    await perform(nothing);
    alone = await perform(nothing);
    // The award of this one is not carried out for as long as the silent maker looks.
    floor.cluster.kill('executor', 'SIGSTOP');
    try {
      amongOthers = await perform(async (id) => {
        await noise(id);
        competing += 1;
      });
    } finally {
      floor.cluster.kill('executor', 'SIGCONT');
    }
  }, 120_000);

  it('the others did, and loudly', () => {
    expect(competing).toBeGreaterThan(10);
    expect(alone.originator.length).toBeGreaterThan(15);
  });

  it.each(OBSERVERS)('the %s sees the same bytes until a result is disclosed', (observer) => {
    expect(amongOthers[observer]).toEqual(alone[observer]);
  });
});

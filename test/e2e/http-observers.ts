import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { NormalizedNames, type ObservedAccounts, type Meanwhile, type Transcripts } from './observers.js';
import { auctionBody, CONTRACT, mustBe, type Trader, type TradingFloor, untilPast } from './trading-floor.js';

/** Long enough for the whole script on a busy machine. */
const DURATION_MS = 10_000;

/** What its observer could see of each answer, with ids and times normalized; their lengths stay. */
class Transcript {
  readonly lines: string[] = [];
  private readonly names = new NormalizedNames();

  note(what: string, { status, headerNames, headers, text }: ApiAnswer<unknown>): void {
    const shown = Object.entries(headers).filter(([name]) => name !== 'date' && name !== 'x-request-id');
    this.lines.push(
      `${what}: ${status} ${this.plain(JSON.stringify([headerNames, shown]))}\n${this.plain(text)}`,
    );
  }

  private plain(text: string): string {
    return this.names
      .plain(text)
      .replaceAll(/"(alias|next_cursor)":"([^"]*)"/g, (_, name: string, value: string) => {
        return `"${name}":"<${value.length} characters>"`;
      });
  }
}

function opens(
  floor: TradingFloor,
  cast: ObservedAccounts,
  differing: object = {},
): Promise<ApiAnswer<AuctionJson>> {
  const { originator, quoting, silent, competitors } = cast;
  return originator.create(
    auctionBody(floor.contract('venue_c', 4), [quoting, silent, ...competitors], {
      duration_ms: DURATION_MS,
      limit_price_atoms: 500_000,
      result_disclosure: 'WINNING_PRICE_AND_RANK',
      ...differing,
    }),
  );
}

/** Every list has a next page afterwards. */
async function prologue(floor: TradingFloor, cast: ObservedAccounts): Promise<void> {
  const before = mustBe(201, await opens(floor, cast));
  await cast.quoting.quotes(before.auction_id, 700_000, 1);
  await cast.originator.cancel(before.auction_id);
}

/** The same script each time; only the activity between its steps differs. */
export async function overHttp(
  floor: TradingFloor,
  cast: ObservedAccounts,
  meanwhile: Meanwhile,
): Promise<Transcripts> {
  await prologue(floor, cast);
  const { originator, quoting, silent } = cast;
  const [own, bid, quiet] = [new Transcript(), new Transcript(), new Transcript()];
  const key = randomUUID();
  const created = await opens(floor, cast);
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

  // Views without a result to disclose stay the same even after the end, and while others are being settled.
  await untilPast(closesAt);
  quiet.note('view', await silent.untilCompletedRead(id));
  quiet.note('list', await silent.api.get('/v1/auctions?limit=1'));
  quiet.note('timeline', await silent.api.get(`/v1/auctions/${id}/events`));
  quiet.note('quotes', await silent.api.get(`/v1/auctions/${id}/quotes`));
  quiet.note('late', await silent.submit(id, { price_atoms: 700_000, quantity_atoms: CONTRACT }));
  quiet.note('late preflight', await silent.preflightQuote(id, 700_000, CONTRACT));
  return { originator: own.lines, 'quoting maker': bid.lines, 'silent maker': quiet.lines };
}

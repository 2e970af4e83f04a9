import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { ServerFrame } from '#libs/client/stream-wire.js';
import type { AuctionView, QuoteView } from '#libs/client/wire.js';
import { streamFloor, type StreamFloor } from './stream-floor.js';
import { timelinesOf, untilTold } from './stream-record.js';
import { auctionBody, CONTRACT, mustBe, type Trader, untilPast } from './trading-floor.js';

type Observer = 'originator' | 'quoting maker' | 'silent maker';
type Transcripts = Readonly<Record<Observer, readonly string[]>>;
type Meanwhile = (auctionId: string) => Promise<unknown>;

const OBSERVERS: readonly Observer[] = ['originator', 'quoting maker', 'silent maker'];
const DURATION_MS = 15_000;

jest.setTimeout(120_000);

let floor: StreamFloor;
let originator: Trader;
let quoting: Trader;
let silent: Trader;
let competitors: Trader[];
let noises = 0;

beforeAll(async () => {
  floor = await streamFloor();
  const names = ['load-originator-7', 'load-maker-21', 'load-maker-22', 'load-maker-23', 'load-maker-24'];
  const [first, second, third, ...others] = await floor.traders(...names);
  [originator, quoting, silent, competitors] = [first!, second!, third!, others];
}, 120_000);

afterAll(() => {
  floor.close();
});

/** Every byte that one observer's streams sent, with ids and times made the same, and of what is encrypted the length. */
class Transcript {
  private readonly ids = new Map<string, string>();

  constructor(private readonly clients: readonly StreamClient[]) {}

  get lines(): string[] {
    return this.clients.flatMap(({ texts }, index) => [
      `stream ${index}`,
      // What answers a command and what a subscription tells come on ways of their own; in between there is no order to keep.
      ...texts.filter((text) => isOfTheScript(text) && isAnswer(text)).map((text) => this.plain(text)),
      ...texts.filter((text) => isOfTheScript(text) && !isAnswer(text)).map((text) => this.plain(text)),
      `tokens of ${[...new Set(texts.flatMap(tokenLengths))].sort().join()} characters`,
    ]);
  }

  private plain(text: string): string {
    return (
      text
        // Which event carries a token is a matter of seconds.
        .replaceAll(/,"resume_token":"[^"]*"\}$/g, '}')
        .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => this.nameOf(id))
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z/g, '<time>')
        .replaceAll(/"alias":"([^"]*)"/g, (_, alias: string) => `"alias":"<${alias.length} characters>"`)
    );
  }

  /** The same id is the same again, wherever it comes up. */
  private nameOf(id: string): string {
    const name = this.ids.get(id) ?? `<id ${this.ids.size + 1}>`;
    this.ids.set(id, name);
    return name;
  }
}

/** Heartbeats come with the clock, whatever anybody does. */
function isOfTheScript(text: string): boolean {
  return (JSON.parse(text) as ServerFrame).type !== 'heartbeat';
}

function isAnswer(text: string): boolean {
  return 'cmd_id' in (JSON.parse(text) as ServerFrame);
}

function tokenLengths(text: string): number[] {
  const frame = JSON.parse(text) as ServerFrame;
  return 'resume_token' in frame ? [frame.resume_token.length] : [];
}

/** A better quote, a worse one, revisions, a withdrawal, a refusal, over streams and over HTTP. */
async function noise(auctionId: string): Promise<void> {
  const [loud, fickle] = competitors as [Trader, Trader];
  const [standing] = await loud.myQuotes(auctionId);
  if (standing === undefined) await loud.quotes(auctionId, 400_000, 10);
  else await loud.revise(standing, { price_atoms: standing.price_atoms - 1_000 });
  await loud.submit(auctionId, { price_atoms: 1, quantity_atoms: 1 });
  const [active] = (await fickle.myQuotes(auctionId)).filter(({ status }) => status === 'ACTIVE');
  if (active === undefined) await fickle.quotes(auctionId, 600_000, 5);
  else await fickle.withdraw(active);
  noises += 1;
}

/** One observer: a stream that hears everything and one that comes later, hears one auction, dies, and goes on elsewhere. */
class Watch {
  readonly clients: StreamClient[] = [];

  constructor(readonly trader: Trader) {}

  async first(): Promise<void> {
    const client = await this.keep(
      floor.listen(this.trader.name, { cancel_on_disconnect: { grace_ms: 30_000 } }),
    );
    await client.subscribe();
  }

  async second(auctionId: string): Promise<void> {
    const client = await this.keep(floor.listen(this.trader.name, {}, { gateway: 1 }));
    await client.subscribeTo(auctionId);
    await client.subscribeTo(auctionId, { after_seq: 0 });
  }

  async third(): Promise<void> {
    const [, second] = this.clients;
    second!.kill();
    await this.keep(floor.goesOn(this.trader.name, second!));
  }

  /** All that has happened so far has been told. */
  async settled(auctionId: string): Promise<void> {
    const timelines = await timelinesOf(this.trader, [auctionId]);
    const last = this.clients.length - 1;
    await untilTold(this.clients[0]!, 's1', timelines);
    if (last > 0) for (const id of ['s1', 's2']) await untilTold(this.clients[last]!, id, timelines);
  }

  private async keep(opening: Promise<StreamClient>): Promise<StreamClient> {
    const client = await opening;
    this.clients.push(client);
    return client;
  }
}

async function liveOf(trader: Trader): Promise<AuctionView[]> {
  const page = await trader.api.get<{ auctions: AuctionView[] }>('/v1/auctions');
  return mustBe(200, page).auctions.filter(({ phase }) => phase === 'LIVE');
}

/** The same script each time; only what happens between its steps differs. */
async function perform(meanwhile: Meanwhile): Promise<Transcripts> {
  const watches = [new Watch(originator), new Watch(quoting), new Watch(silent)] as const;
  // Everybody begins with nothing live, whatever there was before.
  for (const { trader } of watches) await eventually(async () => expect(await liveOf(trader)).toEqual([]));
  for (const watch of watches) await watch.first();
  const body = auctionBody(floor.contract('venue_c', 4), [quoting, silent, ...competitors], {
    duration_ms: DURATION_MS,
    limit_price_atoms: 500_000,
    result_disclosure: 'WINNING_PRICE_AND_RANK',
  });
  const { auction_id: id, closes_at: closesAt }: AuctionView = await originator.opens(body);
  const step = async (act: () => Promise<unknown>): Promise<void> => {
    await meanwhile(id);
    await act();
    for (const watch of watches) await watch.settled(id);
  };
  const [stream] = watches[1].clients as [StreamClient];
  const terms = { auction_id: id, price_atoms: 700_000, quantity_atoms: 7 * CONTRACT };
  const key = { idempotency_key: id };

  await step(() =>
    stream.command('quote.preflight', {
      ...terms,
      quantity_atoms: undefined,
      idempotency_key: undefined,
      max_executable_quantity_atoms: CONTRACT,
    }),
  );
  let quote: QuoteView | undefined;
  await step(async () => {
    const reply = await stream.command('quote.submit', { ...terms, ...key });
    if (reply.type === 'ack') quote = reply.result as QuoteView & Record<string, unknown>;
  });
  const mine = { auction_id: id, quote_id: quote!.quote_id };
  await step(() => stream.command('quote.submit', { ...terms, ...key }));
  await step(() => stream.command('quote.submit', terms));
  for (const watch of watches) await step(() => watch.second(id));
  await step(() => stream.command('quote.revise', { ...mine, expected_revision: 1, price_atoms: 690_000 }));
  await step(() => stream.command('quote.revise', { ...mine, expected_revision: 2, price_atoms: 680_001 }));
  await step(() => stream.command('quote.revise', { ...mine, expected_revision: 1, price_atoms: 680_000 }));
  for (const watch of watches) {
    watch.clients[1]!.kill();
    await meanwhile(id);
    await watch.third();
  }
  await step(() => quoting.revise({ ...quote!, revision: 2 }, { quantity_atoms: 6 * CONTRACT }));
  for (const watch of watches) await step(() => watch.clients[2]!.ask('ping', {}, 'still here'));
  expect(Date.now()).toBeLessThan(Date.parse(closesAt));
  const toldBefore = [new Transcript(watches[0].clients).lines, new Transcript(watches[1].clients).lines];

  // What has no result to be told stays the same even when it is over, and while others are still being settled.
  await untilPast(closesAt);
  await watches[2].settled(id);
  await watches[2].clients[0]!.until(
    'its end',
    (frame) => frame.type === 'event' && frame.kind === 'AUCTION_COMPLETED',
  );
  await watches[2].settled(id);
  const late = await floor.listen(silent.name);
  watches[2].clients.push(late);
  await late.subscribeTo(id, { after_seq: 0 });
  await late.subscribe();
  await late.command('quote.submit', terms);
  const silence = new Transcript(watches[2].clients).lines;
  for (const { clients } of watches) for (const client of clients) client.kill();
  return { originator: toldBefore[0]!, 'quoting maker': toldBefore[1]!, 'silent maker': silence };
}

describe('whether or not others quoted', () => {
  let alone: Transcripts;
  let amongOthers: Transcripts;

  beforeAll(async () => {
    alone = await perform(() => Promise.resolve());
    // The award of this one is not carried out for as long as the silent maker listens.
    floor.cluster.kill('executor', 'SIGSTOP');
    try {
      amongOthers = await perform(noise);
    } finally {
      floor.cluster.kill('executor', 'SIGCONT');
    }
  }, 120_000);

  it('the others did, and loudly', () => {
    expect(noises).toBeGreaterThan(10);
    for (const observer of OBSERVERS) expect(alone[observer].length).toBeGreaterThan(15);
    const said = new Set(
      alone['quoting maker'].flatMap((line) => /^\{"type":"([a-z]+)"/.exec(line)?.[1] ?? []),
    );
    const all = ['ack', 'event', 'pong', 'reject', 'snapshot', 'subscribed', 'welcome'];
    expect([...said].sort()).toEqual(all);
    expect(alone['quoting maker'].filter((line) => line.includes('"resumed":true'))).toHaveLength(1);
  });

  it.each(OBSERVERS)('the streams of the %s hold the same bytes until a result is disclosed', (observer) => {
    expect(amongOthers[observer]).toEqual(alone[observer]);
  });
});

import { expect } from '@jest/globals';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { ServerFrame } from '#libs/client/stream-wire.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { NormalizedNames, type ObservedAccounts, type Meanwhile, type Transcripts } from './observers.js';
import type { StreamFloor } from './stream-floor.js';
import { timelinesOf, untilTold } from './stream-record.js';
import { auctionBody, CONTRACT, type Trader, untilPast } from './trading-floor.js';

/** Long enough for the whole script on a busy machine. */
const DURATION_MS = 12_000;

/** Every byte of one observer's streams, with ids and times normalized; of encrypted texts only the length. */
class Transcript {
  private readonly names = new NormalizedNames();

  constructor(private readonly clients: readonly StreamClient[]) {}

  get lines(): string[] {
    return this.clients.flatMap(({ texts }, index) => [
      `stream ${index}`,
      // Replies to commands and events of subscriptions have no order between them.
      ...texts.filter((text) => isOfTheScript(text) && isAnswer(text)).map((text) => this.plain(text)),
      ...texts.filter((text) => isOfTheScript(text) && !isAnswer(text)).map((text) => this.plain(text)),
      `tokens of ${[...new Set(texts.flatMap(tokenLengths))].sort().join()} characters`,
    ]);
  }

  private plain(text: string): string {
    // Which event has a token depends on time.
    const tokenless = text.replaceAll(/,"resume_token":"[^"]*"\}$/g, '}');
    return this.names
      .plain(tokenless)
      .replaceAll(/"alias":"([^"]*)"/g, (_, alias: string) => `"alias":"<${alias.length} characters>"`);
  }
}

/** Heartbeats depend on time alone. */
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

/**
 * One observer: a stream that receives everything, and one that comes later, subscribes to one auction, dies
 * and resumes elsewhere.
 */
class Watch {
  readonly clients: StreamClient[] = [];

  constructor(
    private readonly floor: StreamFloor,
    readonly trader: Trader,
  ) {}

  async first(): Promise<void> {
    const client = await this.keep(
      this.floor.listen(this.trader.name, { cancel_on_disconnect: { grace_ms: 30_000 } }),
    );
    await client.subscribe();
  }

  async second(auctionId: string): Promise<void> {
    const client = await this.keep(this.floor.listen(this.trader.name, {}, { gateway: 1 }));
    await client.subscribeTo(auctionId);
    await client.subscribeTo(auctionId, { after_seq: 0 });
  }

  async third(): Promise<void> {
    const [, second] = this.clients;
    second!.kill();
    await this.keep(this.floor.goesOn(this.trader.name, second!));
  }

  /** Waits until everything so far was sent. */
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

/** The same script each time; only the activity between its steps differs. */
export async function overStreams(
  floor: StreamFloor,
  cast: ObservedAccounts,
  meanwhile: Meanwhile,
): Promise<Transcripts> {
  const { originator, quoting, silent, competitors } = cast;
  const watches = [
    new Watch(floor, originator),
    new Watch(floor, quoting),
    new Watch(floor, silent),
  ] as const;
  for (const watch of watches) await watch.first();
  const body = auctionBody(floor.contract('venue_c', 4), [quoting, silent, ...competitors], {
    duration_ms: DURATION_MS,
    limit_price_atoms: 500_000,
    result_disclosure: 'WINNING_PRICE_AND_RANK',
  });
  const { auction_id: id, closes_at: closesAt }: AuctionJson = await originator.opens(body);
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
  let quote: QuoteJson | undefined;
  await step(async () => {
    const reply = await stream.command('quote.submit', { ...terms, ...key });
    if (reply.type === 'ack') quote = reply.result as QuoteJson & Record<string, unknown>;
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

  // Views without a result to disclose stay the same even after the end, and while others are being settled.
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

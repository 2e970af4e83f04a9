import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { Ack, Reject } from '#libs/client/stream-wire.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import { StreamFloor } from '../stream-floor.js';
import { auctionBody, CONTRACT, type Trader } from '../trading-floor.js';

const AUCTIONS = 9;
const MAKERS = 4;
const VICTIMS = ['owner-0', 'owner-1', 'owner-2', 'owner-0'];
/** The number of answers between two kills. */
const ANSWERS_BETWEEN = 150;
const CUT_OFF = 503;

jest.setTimeout(120_000);

/** One command of a stream. Its price is unique in its auction, so the timeline shows which commands were carried out. */
interface Sent {
  readonly maker: Trader;
  readonly type: 'quote.submit' | 'quote.revise';
  readonly fields: Readonly<Record<string, unknown>> & {
    readonly auction_id: string;
    readonly price_atoms: number;
  };
  readonly key: string;
  /** Undefined if the stream ended first. */
  readonly reply: Ack | Reject | undefined;
}

let cluster: OwnedCluster;
let floor: StreamFloor;
let books: ServiceRecords;
let originator: Trader;
let makers: Trader[];
let auctions: AuctionJson[];
const sent: Sent[] = [];
let isGoing = true;

beforeAll(async () => {
  const settings = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: `makers:${MAKERS},originators:1` };
  cluster = await startCluster({ env: { ...settings, OWNER_TIMEOUT_MS: '2000' } });
  floor = new StreamFloor(cluster);
  books = new ServiceRecords(cluster);
  originator = await floor.trader('load-originator-1');
  makers = await floor.traders(...Array.from({ length: MAKERS }, (_, index) => `load-maker-${index + 1}`));
  const body = auctionBody(floor.contract('venue_c', 0), makers, { duration_ms: 600_000 });
  auctions = await Promise.all(Array.from({ length: AUCTIONS }, () => originator.opens(body)));
}, 90_000);

afterAll(async () => {
  floor.close();
  await books.close();
  await cluster.stop();
});

async function send(client: StreamClient, command: Omit<Sent, 'reply'>): Promise<Ack | Reject | undefined> {
  const { type, fields, key } = command;
  const reply = await client.command(type, { ...fields, idempotency_key: key }).catch(() => undefined);
  sent.push({ ...command, reply });
  return reply;
}

/** One maker in one auction: a quote, revised up and down as fast as answers come. */
async function haggle(client: StreamClient, maker: Trader, { auction_id: id }: AuctionJson): Promise<void> {
  let quote: QuoteJson | undefined;
  for (let price = 1_000; isGoing; price += 1_000) {
    const terms = { auction_id: id, price_atoms: price };
    const reply =
      quote === undefined
        ? await send(client, {
            ...{ maker, type: 'quote.submit', key: randomUUID() },
            fields: { ...terms, quantity_atoms: CONTRACT },
          })
        : await send(client, {
            ...{ maker, type: 'quote.revise', key: randomUUID() },
            fields: { ...terms, quote_id: quote.quote_id, expected_revision: quote.revision },
          });
    if (reply?.type === 'ack') quote = reply.result as QuoteJson & Record<string, unknown>;
    else quote = await standing(maker, id);
  }
}

/** What the owner has after a command without an answer. */
function standing(maker: Trader, auctionId: string): Promise<QuoteJson | undefined> {
  return eventually(
    async () => (await maker.myQuotes(auctionId)).find(({ status }) => status === 'ACTIVE'),
    30_000,
  );
}

async function quotesTold(maker: Trader, auctionId: string): Promise<QuoteJson[]> {
  const timeline = await maker.timeline(auctionId);
  return timeline
    .filter(({ kind }) => kind === 'QUOTE_ACCEPTED' || kind === 'QUOTE_REVISED')
    .map(({ data }) => data.quote as QuoteJson);
}

describe('after kill -9 of every owner', () => {
  beforeAll(async () => {
    const clients = await Promise.all(makers.map((maker) => floor.listen(maker.name)));
    const haggling = makers.flatMap((maker, index) =>
      auctions.map((auction) => haggle(clients[index]!, maker, auction)),
    );
    const someAnswers = async (): Promise<void> => {
      const before = sent.length;
      await eventually(() => expect(sent.length).toBeGreaterThan(before + ANSWERS_BETWEEN), 40_000);
    };
    for (const victim of VICTIMS) {
      await someAnswers();
      const pid = cluster.kill(victim);
      await cluster.restartOf(victim, pid);
    }
    await someAnswers();
    isGoing = false;
    await Promise.all(haggling);
  }, 120_000);

  it('there was load, and some of it was cut off', () => {
    const statuses = sent.map(({ reply }) => reply?.status);
    expect(statuses.filter((status) => status === 200 || status === 201).length).toBeGreaterThan(
      ANSWERS_BETWEEN,
    );
    expect(statuses.filter((status) => status === undefined || status === CUT_OFF).length).toBeGreaterThan(0);
  });

  it('every acknowledged command is in the timeline once, as it was answered, and no rejected one is', async () => {
    for (const maker of makers) {
      for (const { auction_id: id } of auctions) {
        const told = await quotesTold(maker, id);
        const prices = told.map(({ price_atoms: price }) => price);
        expect(new Set(prices).size).toBe(prices.length);
        const own = sent.filter((command) => command.maker === maker && command.fields.auction_id === id);
        const acked = own.flatMap(({ reply }) => (reply?.type === 'ack' ? [reply.result] : []));
        const isAcked = (quote: QuoteJson): boolean =>
          acked.some((result) => result.price_atoms === quote.price_atoms);
        expect(told.filter(isAcked)).toEqual(acked);
        // All other commands had no answer.
        const unknown = own.filter(({ reply }) => reply === undefined || reply.status === CUT_OFF);
        const unknownPrices = unknown.map(({ fields }) => fields.price_atoms);
        expect(unknownPrices).toEqual(
          expect.arrayContaining(
            prices.filter((price) => !told.filter(isAcked).some((quote) => quote.price_atoms === price)),
          ),
        );
      }
    }
  });

  it('a command without an answer, repeated over HTTP with its key, is carried out once or refused', async () => {
    const unknown = sent.filter(({ reply }) => reply === undefined || reply.status === CUT_OFF);
    for (const { maker, type, fields, key } of unknown) {
      const { auction_id: id, quote_id: quoteId, ...body } = fields;
      const path = `/v1/auctions/${id}/quotes${type === 'quote.submit' ? '' : `/${String(quoteId)}/revise`}`;
      const before = await quotesTold(maker, id);
      const answer = await maker.api.post(path, body, key);
      const after = await quotesTold(maker, id);
      const times = after.filter(({ price_atoms: price }) => price === fields.price_atoms).length;
      if (answer.status < 300) expect(times).toBe(1);
      else expect([answer.status, times, after.length]).toEqual([409, 0, before.length]);
    }
  });
});

describe('while the journal cannot be written', () => {
  it('no command is acknowledged, and what its owner lost was never shown to any client', async () => {
    const [maker] = makers as [Trader];
    const body = auctionBody(floor.contract('venue_c', 1), [maker], { duration_ms: 600_000 });
    const fresh = await Promise.all(Array.from({ length: 9 }, () => originator.opens(body)));
    const client = await floor.listen(maker.name);
    await client.subscribe();
    const replies: Promise<Ack | Reject>[] = [];
    const pids: number[] = [];
    let acked = 0;
    await books.whileLocked('journal.records', async () => {
      for (const { auction_id: id } of fresh) {
        const terms = { auction_id: id, price_atoms: 500_000, quantity_atoms: CONTRACT };
        const reply = client.command('quote.submit', terms);
        replies.push(reply);
        // A client that waits too long is told that the outcome is unknown, which is true.
        void reply.then(({ type }) => (acked += type === 'ack' ? 1 : 0));
      }
      // The gateway has passed them on, and their owners answer everything else.
      for (let round = 0; round < 20; round += 1) {
        expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
        for (const { auction_id: id } of fresh) expect((await maker.view(id)).my_quote).toBeUndefined();
      }
      expect(acked).toBe(0);
      for (const shard of [0, 1, 2]) pids.push(cluster.kill(`owner-${shard}`));
    });
    for (const [shard, pid] of pids.entries()) await cluster.restartOf(`owner-${shard}`, pid);
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([CUT_OFF]));
    for (const { auction_id: id } of fresh) {
      // The gateway must find the owner again first.
      const told = (await eventually(() => maker.timeline(id))).map(({ kind }) => kind);
      const heard = client.memory.of('s1').events.filter((event) => event.auction_id === id);
      expect(heard.length).toBeLessThanOrEqual(told.filter((kind) => kind === 'QUOTE_ACCEPTED').length);
    }
  });
});

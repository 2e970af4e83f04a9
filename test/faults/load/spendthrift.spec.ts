import { beforeEach, expect, it } from '@jest/globals';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { Random } from '../../simulator/kernel/random.js';
import type { WireCommand } from './caller.js';
import { shardFor } from './deeds.js';
import { Spendthrift } from './spendthrift.js';
import type { Overspending } from './transcript.js';

const CONTRACT = {
  venue: 'venue_a',
  contract_id: 'rain',
  outcome: 'YES',
  price_tick_atoms: 10_000,
  quantity_step_atoms: 10_000,
};
const HALF_OF_ITS_MILLION = 500_000_000_000;

let overspendings: Overspending[];
/** Requests and answers, in order. */
let log: string[];
let asked: WireCommand[];

beforeEach(() => {
  [overspendings, log, asked] = [[], [], []];
});

function answer(status: number, body: Record<string, unknown>): ApiAnswer {
  return { status, headers: {}, headerNames: [], text: JSON.stringify(body), body };
}

/** One run in which all commands succeed, except those that `differing` names by kind and position. */
async function overspend(differing: Readonly<Record<string, ApiAnswer | undefined>> = {}): Promise<void> {
  const counts = new Map<string, number>();
  const settle = async (_: { account: string }, errand: WireCommand): Promise<ApiAnswer | undefined> => {
    const { operation } = errand.command;
    const place = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, place);
    const name = `${operation} ${place}`;
    asked.push(errand);
    log.push(`asked ${name}`);
    await Promise.resolve();
    log.push(`answered ${name}`);
    if (name in differing) return differing[name];
    return answer(201, { auction_id: `auction ${place}`, quote_id: `quote ${place}`, revision: 1 });
  };
  await new Spendthrift({
    maker: { account: 'mia' },
    patron: { account: 'olga' },
    contracts: [CONTRACT],
    overspendings,
    random: new Random('spendthrift'),
    sleep: () => Promise.resolve(),
  }).overspend(settle);
}

it('sends nothing besides its first quote until that is acknowledged, and withdraws it after all answers', async () => {
  await overspend();
  const [{ standing, beside, withdrawal } = { standing: undefined, beside: [], withdrawal: undefined }] =
    overspendings;
  expect(beside.length).toBeGreaterThan(0);
  const quoting = log.filter((line) => /SUBMIT|WITHDRAW/.test(line));
  const names = [...beside.keys()].map((index) => `SUBMIT ${index + 2}`);
  expect(quoting).toEqual(
    ['SUBMIT 1', ...names, 'WITHDRAW 1'].flatMap((name) => [`asked ${name}`, `answered ${name}`]),
  );
  expect([standing?.auctionId, withdrawal?.auctionId]).toEqual(['auction 1', 'auction 1']);
  expect(withdrawal?.content).toBe('{"quote_id":"quote 1"}');
});

it('quotes more than half of its balance each time, at a price that never wins', async () => {
  await overspend();
  const [sales, quotes] = ['CREATE', 'SUBMIT'].map((operation) =>
    asked.filter(({ command }) => command.operation === operation).map(({ body }) => body),
  );
  const limit = Math.min(...(sales ?? []).map(({ limit_price_atoms: price }) => Number(price)));
  for (const { price_atoms: price, quantity_atoms: quantity } of quotes ?? []) {
    expect((Number(price) * Number(quantity)) / 1_000_000).toBeGreaterThan(HALF_OF_ITS_MILLION);
    expect(Number(price)).toBeLessThan(limit);
  }
});

it('cancels the auctions that were opened for it', async () => {
  await overspend();
  const open = asked.filter(({ command }) => command.operation === 'CREATE').length;
  expect(asked.filter(({ command }) => command.operation === 'CANCEL')).toHaveLength(open);
});

it('records nothing if its first quote was refused or has no answer', async () => {
  await overspend({ 'SUBMIT 1': answer(422, { error: 'AUCTION_NOT_OPEN' }) });
  await overspend({ 'SUBMIT 1': undefined });
  expect(overspendings).toEqual([]);
  expect(log).not.toContain('asked SUBMIT 2');
});

it('records a withdrawal without an answer, but no quote without an answer', async () => {
  await overspend({ 'SUBMIT 2': undefined, 'SUBMIT 3': undefined, 'WITHDRAW 1': undefined });
  expect(overspendings).toEqual([expect.objectContaining({ beside: [] })]);
});

it('quotes in several shards', async () => {
  for (let times = 0; times < 5; times += 1) await overspend();
  const sales = asked.filter(({ command }) => command.operation === 'CREATE');
  expect(new Set(sales.map(shardFor)).size).toBeGreaterThan(1);
});

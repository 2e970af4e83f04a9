import { expect } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import type { Sent, TradingLoad } from './trading-load.js';

const TOLD = { submit: 'QUOTE_ACCEPTED', revise: 'QUOTE_REVISED', withdraw: 'QUOTE_WITHDRAWN' } as const;

/** Waits for this many more answers, so that the next fault hits all kinds of work. */
export async function moreLoad(load: TradingLoad, answers: number): Promise<void> {
  const before = load.acknowledged.length;
  await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(before + answers), 30_000);
}

export function createsOf(sent: readonly Sent[]): Sent[] {
  return sent.filter(({ operation, answer }) => operation === 'create' && answer!.status < 300);
}

export async function allOver(sent: readonly Sent[]): Promise<void> {
  for (const { by, answer } of createsOf(sent)) {
    await eventually(async () => {
      const view = await by.view(answer!.body.auction_id);
      if (view.phase !== 'COMPLETED') throw new Error(`${view.auction_id} is ${view.status}`);
    }, 20_000);
  }
}

/** All sent commands with their outcome: each one without an answer is repeated with its key. */
export async function allKnown(load: TradingLoad): Promise<Sent[]> {
  const repeated = load.unknown.map(async (sent): Promise<Sent> => {
    const answer = await eventually(async () => {
      const heard = await sent.by.api.post<AuctionJson & QuoteJson>(sent.path, sent.body, sent.key);
      // A first call that is still running says as little of its outcome as an owner that is down.
      if (heard.status >= 500 || heard.status === 429 || heard.text.includes('idempotency_key_in_progress'))
        throw new Error(`${sent.path}: ${heard.status} ${heard.text}`);
      return heard;
    }, 30_000);
    return { ...sent, answer };
  });
  return [...load.sent.filter(({ answer }) => answer !== undefined), ...(await Promise.all(repeated))];
}

/** Acknowledged commands whose result is missing or different. */
export async function lostOf(acknowledged: readonly Sent[]): Promise<string[]> {
  const creates = createsOf(acknowledged).map(async ({ by, body, key, answer }) => {
    const again = await by.create(body, key);
    return again.status === 200 && again.text === answer!.text ? [] : [`create of ${answer!.text}`];
  });
  const quotes = acknowledged.map(async ({ operation, by, answer }) => {
    if (operation === 'create' || answer!.status >= 300) return [];
    const quote = answer!.body;
    const written = (await by.timeline(quote.auction_id))
      .filter(({ kind }) => kind === TOLD[operation])
      .map(({ data }) => JSON.stringify(data.quote));
    return written.includes(JSON.stringify(quote)) ? [] : [`${operation} of ${quote.quote_id}`];
  });
  return (await Promise.all([...creates, ...quotes])).flat();
}

import { z } from 'zod';
import { FULL_PRICE } from '../../../rules/scales.js';
import { liveMarketOf } from '../../live-reads/live-market.js';
import type { ShownMarket, LiveSource } from '../../live-reads/port.js';
import { priceText } from '../decimals.js';
import { liveReply, liveValue } from '../live-reads-of-venues.js';
import type { PublicReads } from '../public-reads.js';
import { seenMarket, sideOfToken, tokenOf } from './markets.js';
import { oneSettled, outcomeMeta } from './shapes.js';

const allMids = z.record(z.string(), priceText);

/** Reads venue_e while a caller waits. */
export class LiveE implements LiveSource {
  constructor(private readonly ports: { readonly reads: PublicReads; readonly url: string }) {}

  async market(id: string): Promise<ShownMarket | undefined> {
    const outcome = outcomeIn(id);
    if (outcome === undefined) return undefined;
    const { outcomes } = await this.ask({ type: 'outcomeMeta' }, outcomeMeta);
    const open = outcomes.find((each) => each.outcome === outcome);
    if (open !== undefined) {
      const { terms, status } = seenMarket(open);
      const mids = await this.ask({ type: 'allMids' }, allMids);
      const prices = [0, 1].map((side) => mids[tokenOf(terms.market_id, side)] ?? null);
      return liveMarketOf(terms, { isActive: status === 'active', prices });
    }
    const settled = await this.ask({ type: 'settledOutcome', outcome }, oneSettled);
    if (settled === null) return undefined;
    const { spec, settleFraction: first } = settled;
    return liveMarketOf(seenMarket(spec).terms, { isActive: false, prices: [first, FULL_PRICE - first] });
  }

  private async ask<T>(
    question: { readonly type: string; readonly outcome?: number },
    shape: z.ZodType<T>,
  ): Promise<T> {
    const request = { url: new URL('/info', this.ports.url), body: JSON.stringify(question) };
    return liveValue(question.type, await liveReply(this.ports.reads, request), shape);
  }
}

/** The venue's outcome number, from that number or from the token id of one of its sides. */
function outcomeIn(id: string): number | undefined {
  if (/^\d{1,11}$/.test(id)) return Number(id);
  return /^#\d{1,11}[01]$/.test(id) ? Number(sideOfToken(id).market_id) : undefined;
}

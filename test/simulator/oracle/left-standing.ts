import { BEGINNING, NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import { activeQuotes, type AuctionFile } from './auction-file.js';
import { LEASE_MILLIS, type Absence } from './lost-streams.js';
import { must } from './violation.js';

const BEGINNING_MILLIS = Number(BEGINNING / BigInt(NANOS_PER_MILLI));
const TAKEN_BACK = 'quotes go with their stream, whoever owns their shard by then';
const SLACK_MILLIS = 1_000;

export interface Watch {
  readonly graces: Readonly<Record<string, number>>;
  readonly absence: Absence;
  readonly nowMillis: number;
  /** Since when the shard's owner has been at work. */
  readonly servesSince: number;
}

/** In a world in which nothing goes wrong but that owners end: at its close nothing stands whose stream has been lost for long. */
export function mustHaveGoneByNow(
  file: AuctionFile,
  { graces, absence, nowMillis, servesSince }: Watch,
): void {
  if (file.terms.quote_revision_policy !== 'FREE') return;
  for (const { id, maker, connection, versions } of activeQuotes(file)) {
    const grace = graces[maker];
    const away = absence(maker, connection ?? '');
    if (grace === undefined || away === undefined) continue;
    const stoodAt = Date.parse(versions[0]?.submitted_at ?? '') - BEGINNING_MILLIS;
    const wait = Math.max(LEASE_MILLIS, grace);
    const latest = Math.max(nowMillis - away + grace, servesSince + wait, stoodAt + wait);
    must(
      nowMillis <= latest + SLACK_MILLIS,
      TAKEN_BACK,
      () => `quote ${id} of ${file.id} stands at its close, whose stream has been away for ${away} ms`,
    );
  }
}

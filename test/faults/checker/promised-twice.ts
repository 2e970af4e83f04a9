import type pg from 'pg';
import { commandName, type OracleArchive } from '../../simulator/oracle/archive.js';
import { amountIn } from '../../simulator/oracle/holds.js';
import type { Promised } from '../../simulator/oracle/promises.js';
import type { RawQuote } from '../../simulator/oracle/raw-events.js';
import { must } from '../../simulator/oracle/violation.js';
import type { AnsweredCommand, Overspending } from '../load/transcript.js';
import type { Findings } from './findings.js';

const ONCE = 'nothing is promised twice';
const WANTS_MEANS = '"error":"INSUFFICIENT_COLLATERAL"';
const COLLATERAL = 'COLLATERAL';

interface GainRow {
  readonly account_id: string;
  readonly venue: string;
  readonly gained: string;
}

/**
 * A maker whose second promise is granted must have had the balance for both. The first was acknowledged before
 * the second was sent, and still existed when a withdrawal was sent after the second answer. This uses no
 * clock.
 */
export async function checkPromisedTwice(
  pool: pg.Pool,
  overspendings: readonly Overspending[],
  archive: OracleArchive,
  findings: Findings,
): Promise<void> {
  const most = await mostEverHad(pool);
  for (const { standing, beside, withdrawal } of overspendings) {
    const first = quoteBy(standing, archive);
    if (first === undefined || !isWithdrawn(first, withdrawal, archive)) continue;
    for (const answer of beside.filter(isJudgedByMeans)) {
      findings.look('simultaneous promises', () => {
        const second = quoteBy(answer.command, archive);
        if (second !== undefined) mustBeCovered(first, second, most);
      });
    }
  }
}

/** All collateral ever credited, by account and venue: never less than the balance at any time. */
async function mostEverHad(pool: pg.Pool): Promise<(account: string, venue: string) => number> {
  const { rows } = await pool.query<GainRow>(
    `select account_id, venue, sum(amount) as gained from custody.entries
     where domain = 'vault' and asset = '' and amount > 0 group by account_id, venue`,
  );
  const gains = new Map(
    rows.map(({ account_id: account, venue, gained }) => [`${account} ${venue}`, Number(gained)]),
  );
  return (account, venue) => gains.get(`${account} ${venue}`) ?? 0;
}

function mustBeCovered(
  first: RawQuote,
  second: RawQuote,
  most: (account: string, venue: string) => number,
): void {
  const venues = new Set(
    [...first.hold, ...second.hold].map(({ venue }) => venue).filter((venue) => venue !== ''),
  );
  for (const venue of venues) {
    const [one, other] = [first, second].map(({ hold }) => amountIn(hold, venue, COLLATERAL, ''));
    const had = most(first.maker, venue);
    must(
      (one ?? 0) + (other ?? 0) <= had,
      ONCE,
      () =>
        `${first.maker} has promised ${one ?? 0} by ${first.quote_id} and at the same time ${other ?? 0} by ${second.quote_id}, and never had more than ${had} at ${venue}`,
    );
  }
}

/** The quote that this command submitted. */
function quoteBy(
  { operation, account, auctionId, key }: Promised,
  archive: OracleArchive,
): RawQuote | undefined {
  const event = archive.commands.get(commandName(operation, account, auctionId, key))?.event;
  return event?.type === 'QUOTE_SUBMITTED' ? event.data.quote : undefined;
}

function isWithdrawn({ quote_id: id }: RawQuote, withdrawal: Promised, archive: OracleArchive): boolean {
  const { operation, account, auctionId, key } = withdrawal;
  const event = archive.commands.get(commandName(operation, account, auctionId, key))?.event;
  return event?.type === 'QUOTE_WITHDRAWN' && event.data.quote_id === id;
}

/** Granted, or refused for lack of balance. Other refusals come before balances are checked. */
function isJudgedByMeans({ status, body }: Pick<AnsweredCommand, 'status' | 'body'>): boolean {
  return status < 300 || body.includes(WANTS_MEANS);
}

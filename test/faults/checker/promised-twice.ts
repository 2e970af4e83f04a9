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
 * Whoever has promised something and is granted more beside it must have had both together at some time. By what it was told in which order:
 * the first was acknowledged before the other was asked for, and was still there to be withdrawn by a command that was given behind the
 * other's answer. No clock has a say in it, and whatever was lost on the way only leaves less to look at.
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
      findings.look('promises beside others', () => {
        const second = quoteBy(answer.command, archive);
        if (second !== undefined) mustBeCovered(first, second, most);
      });
    }
  }
}

/** By account and venue all collateral that ever came in, which is never less than what was there at any one time. */
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
        `${first.maker} has promised ${one ?? 0} by ${first.quote_id} and beside it ${other ?? 0} by ${second.quote_id}, and never had more than ${had} at ${venue}`,
    );
  }
}

/** As it was submitted by this command. */
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

/** Granted, or refused because there was not enough left; any other refusal came without anybody looking. */
function isJudgedByMeans({ status, body }: Pick<AnsweredCommand, 'status' | 'body'>): boolean {
  return status < 300 || body.includes(WANTS_MEANS);
}

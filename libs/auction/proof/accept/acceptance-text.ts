import type { Acceptance } from './accept-restored.js';

const MOST = 20;

/** Data that is only in the database. Nothing can restore it, or show how much is missing. */
const NOT_KNOWN = [
  'everything that was entered only in this database since the backup is lost, and its amount is unknown:',
  '  payments, deliveries and limits (npm run ledger); accounts, passwords, roles and suspensions (npm run accounts);',
  '  contracts, closed markets, halts, groups, protection; sessions (users log in again); the record of what auditors read',
];

/** The report for people: what was found, what was or would be changed, and what they must restore themselves. */
export function acceptanceLines(acceptance: Acceptance): string[] {
  return [...foundLines(acceptance), ...NOT_KNOWN, ...unknownLines(acceptance), ...endLines(acceptance)];
}

function foundLines({ shards, toRestate, lack: { settled, failed } }: Acceptance): string[] {
  return [
    ...shards.map(
      ({ shard, known, end }) =>
        `shard ${shard}: the backup goes up to record ${known}, the topic up to ${end.sequence}: ${end.sequence - known} more`,
    ),
    `awards to settle: ${settled.length}; to give up: ${failed.length}`,
    `reservations that differ from the journals: ${toRestate}; owners correct them when they start, and projections catch up`,
  ];
}

function unknownLines({ unknownAccounts }: Acceptance): string[] {
  if (unknownAccounts.length === 0) return [];
  return [
    'accounts that trade in the journals and are not in this database; npm run accounts -- add --account-id enters them with their ids:',
    ...firstOf(unknownAccounts).map((account) => `  ${account}`),
  ];
}

function endLines({ accepted, shortfalls, objections }: Acceptance): string[] {
  if (objections.length > 0) {
    return [...firstOf(objections), 'REFUSED: nothing was changed, for the reasons above'];
  }
  if (shortfalls.length > 0) {
    return [
      ...firstOf(
        shortfalls.map(({ account, venue, asset, amount }) => {
          const what = asset === '' ? 'collateral' : asset;
          return `${account} lacks ${amount} atoms of ${what} on ${venue} for what it has traded`;
        }),
      ),
      'REFUSED: nothing was changed. Enter what was paid in since the backup with npm run ledger -- open, and run this again',
    ];
  }
  return [
    accepted
      ? 'ACCEPTED: the ledger is as far as the journals. The first start checks that they still end there'
      : 'nothing was changed, and there is no objection: run this again with --confirm',
  ];
}

function firstOf(lines: readonly string[]): string[] {
  const left = lines.length - MOST;
  return left > 0 ? [...lines.slice(0, MOST), `and ${left} more`] : [...lines];
}

/** The report for programs. */
export function acceptanceDocument(acceptance: Acceptance): object {
  const { accepted, shards, lack, toRestate, unknownAccounts, shortfalls, objections } = acceptance;
  return {
    accepted,
    shards: shards.map(({ shard, known, end }) => ({ shard, known, end: end.sequence })),
    settled: lack.settled.map(({ award, settlement }) => ({
      award_id: award.award_id,
      auction_id: award.auction_id,
      ...settlement,
    })),
    failed: lack.failed,
    reservations_to_restate: toRestate,
    unknown_accounts: unknownAccounts,
    shortfalls: shortfalls.map(({ account, venue, asset, amount }) => ({
      account_id: account,
      venue,
      asset,
      amount_atoms: amount,
    })),
    objections,
  };
}

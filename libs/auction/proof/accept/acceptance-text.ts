import type { Acceptance } from './accept-restored.js';

const MOST = 20;

/** What was entered in the database and nowhere else, so that nothing can bring it back or even say that it is gone. */
const NOT_KNOWN = [
  'what was entered in this database alone since the backup is gone, and nobody knows how much that was:',
  '  payments, deliveries and limits (npm run ledger); accounts, passwords, roles and who was shut out (npm run accounts);',
  '  contracts, markets that were closed, halts, groups, protection; sessions, which begin anew; who read what as an auditor',
];

/** For people: what was found, what was done or would be, and what they have to see to themselves. */
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
    `reservations that are not what the journals promise: ${toRestate}; owners put them right when they start, and projections catch up`,
  ];
}

function unknownLines({ unknownAccounts }: Acceptance): string[] {
  if (unknownAccounts.length === 0) return [];
  return [
    'accounts that trade in the journals and are not entered here; npm run accounts -- add --account-id gives them back their ids:',
    ...some(unknownAccounts).map((account) => `  ${account}`),
  ];
}

function endLines({ accepted, shortfalls, objections }: Acceptance): string[] {
  if (objections.length > 0) {
    return [...some(objections), 'REFUSED: nothing was changed, for the reasons above'];
  }
  if (shortfalls.length > 0) {
    return [
      ...some(
        shortfalls.map(({ account, venue, asset, amount }) => {
          const what = asset === '' ? 'collateral' : asset;
          return `${account} lacks ${amount} atoms of ${what} on ${venue} for what it has traded`;
        }),
      ),
      'REFUSED: nothing was changed. Enter what was paid in since the backup with npm run ledger -- open, and call this again',
    ];
  }
  return [
    accepted
      ? 'ACCEPTED: the ledger is as far as the journals. The first start looks whether they still end there, and goes on'
      : 'nothing was changed, and nothing stands against it: call this again with --confirm',
  ];
}

function some(lines: readonly string[]): string[] {
  const left = lines.length - MOST;
  return left > 0 ? [...lines.slice(0, MOST), `and ${left} more`] : [...lines];
}

/** For programs. */
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

import { expect, it } from '@jest/globals';
import type { PolicySnapshot } from '../admission/policy/policy-snapshot.js';
import { policyOf } from '../admission/policy/snapshot.fixture.js';
import { aContract, anOpenAuction } from '#libs/testing/auctions/builders.js';
import { placed } from '#libs/testing/auctions/given.js';
import { AuctionBook } from './memory/auction-book.js';
import { ProtectionEnforcer } from './protection-enforcer.js';
import { VoidTask } from './tasks/internal-tasks.js';
import type { ShardContext } from './tasks/shard-context.js';
import type { AuctionTask } from './auction-task.js';

/** The tasks that an enforcer submits at its start, with one open auction. */
function submittedBy(latest: PolicySnapshot | undefined): AuctionTask[] {
  const book = new AuctionBook();
  const opened = anOpenAuction();
  const { auction_id: id } =
    opened.body.type === 'AUCTION_OPENED' ? opened.body.data.terms : { auction_id: '' };
  book.apply(placed(opened, 1, id));
  const submitted: AuctionTask[] = [];
  const enforcer = new ProtectionEnforcer({
    context: {} as ShardContext,
    book,
    policy: { latest, onChange: () => () => undefined },
    submit: (task) => submitted.push(task) > 0,
  });
  enforcer.start();
  return submitted;
}

it('acts at its start on the last policy, however old, because a newer version may never come', () => {
  const closed = policyOf([], { listed: [aContract({ status: 'CLOSED' })] });
  expect(submittedBy(closed)).toEqual([expect.any(VoidTask)]);
  for (const status of ['TRADING', 'PAUSED'] as const)
    expect(submittedBy(policyOf([], { listed: [aContract({ status })] }))).toEqual([]);
  expect(submittedBy(undefined)).toEqual([]);
});

import type { ExecutorLinkRequest, PracticeShares } from '#libs/execution/protocol/executor-protocol.js';
import { LinkClient } from '#libs/link/link-client.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { DemoUser } from '../seed-result.js';
import type { DemoTrading } from './demo-accounts.js';

/** Initial dollars of accounts at the practice venues. A `new` user gets PRACTICE_CREDIT on linking. */
const OPENING: Readonly<Record<Exclude<DemoTrading, 'new'>, string>> = {
  ready: '10000',
  poor: '20',
  small: '1000',
};
const RETRY_MS = 200;
const TIMEOUT_NANOS = 20_000_000_000n;

/** What the vault owes at a venue, according to the ledger. */
export interface VaultHoldings {
  readonly venue: 'venue_b' | 'venue_e';
  readonly dollars: string;
  readonly shares: readonly PracticeShares[];
}

interface LinkParts {
  readonly executorUrl: string;
  readonly serviceToken: string;
  readonly clock: Clock;
}

/** Links the demo traders at the practice venues; existing links stay. Resolves with the number of links. */
export async function linkTraders(
  users: readonly DemoUser[],
  vault: readonly VaultHoldings[],
  { executorUrl, serviceToken, clock }: LinkParts,
): Promise<number> {
  const link = new LinkClient<ExecutorLinkRequest>({
    url: executorUrl,
    serviceToken: () => serviceToken,
    peer: 'launcher',
    clock,
  });
  try {
    const wanted = users.flatMap(({ account_id, trading }) =>
      trading === undefined || trading === 'new'
        ? []
        : vault.map(({ venue }) => ({ user_id: account_id, venue, practice_credit: OPENING[trading] })),
    );
    await untilConnected(link, clock);
    for (const { venue, dollars: practice_credit, shares: practice_shares } of vault) {
      const opened = await link.request({
        op: 'open_vault',
        request_id: `vault-${venue}`,
        venue,
        practice_credit,
        practice_shares,
      });
      if (opened.status >= 300)
        throw new Error(`${venue} did not open the account of the vault: ${opened.body}`);
    }
    await Promise.all(
      wanted.map(async (each) => {
        const request_id = `link-${each.user_id}-${each.venue}`;
        const { status, body } = await link.request({ op: 'link_venue', request_id, ...each });
        if (status >= 300) throw new Error(`${each.venue} did not link a demo trader: ${status} ${body}`);
      }),
    );
    return wanted.length;
  } finally {
    link.close();
  }
}

async function untilConnected(link: LinkClient<ExecutorLinkRequest>, clock: Clock): Promise<void> {
  const deadline = clock.monotonicNanos() + TIMEOUT_NANOS;
  while (!link.connected) {
    if (clock.monotonicNanos() > deadline) throw new Error('the executor cannot be reached');
    await pause(clock, RETRY_MS);
  }
}

import type { ExecutorLinkRequest, PracticeShares } from '#libs/execution/protocol/executor-protocol.js';
import { LinkClient } from '#libs/link/link-client.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { DemoUser } from '../seed-result.js';
import type { DemoTrading } from './demo-accounts.js';

/** Dollars with which accounts at the practice venues begin. Whoever is new gets the last of them on linking. */
const OPENING: Readonly<Record<Exclude<DemoTrading, 'new'>, string>> = {
  ready: '10000',
  poor: '20',
  small: '1000',
};
const AGAIN_MS = 200;
const WITHIN_NANOS = 20_000_000_000n;

/** What the vault owes at a venue, as its ledger says. */
export interface VaultHoldings {
  readonly venue: 'venue_b' | 'venue_e';
  readonly dollars: string;
  readonly shares: readonly PracticeShares[];
}

interface LinkPlaces {
  readonly executorUrl: string;
  readonly serviceToken: string;
  readonly clock: Clock;
}

/** Links the demo traders at the practice venues; those that are linked stay as they are. Resolves with how many links there are. */
export async function linkTraders(
  users: readonly DemoUser[],
  vault: readonly VaultHoldings[],
  { executorUrl, serviceToken, clock }: LinkPlaces,
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
      if (opened.status >= 300) throw new Error(`${venue} opens no account of the vault: ${opened.body}`);
    }
    await Promise.all(
      wanted.map(async (each) => {
        const request_id = `link-${each.user_id}-${each.venue}`;
        const { status, body } = await link.request({ op: 'link_venue', request_id, ...each });
        if (status >= 300) throw new Error(`${each.venue} links no demo trader: ${status} ${body}`);
      }),
    );
    return wanted.length;
  } finally {
    link.close();
  }
}

async function untilConnected(link: LinkClient<ExecutorLinkRequest>, clock: Clock): Promise<void> {
  const deadline = clock.monotonicNanos() + WITHIN_NANOS;
  while (!link.connected) {
    if (clock.monotonicNanos() > deadline) throw new Error('the executor cannot be reached');
    await pause(clock, AGAIN_MS);
  }
}

import type { PracticeShares } from '../protocol/executor-protocol.js';
import type { VenueId } from '../rules/venues.js';

const PATIENCE_MS = 5_000;

/** Gives accounts at practice venues their first money, through the admin interface of those venues. */
export class PracticeCredit {
  constructor(
    private readonly adminUrl: string,
    /** In dollars. Used if a request names no amount. */
    private readonly usual: string,
  ) {}

  async give(
    exchange_id: VenueId,
    account: string,
    amount = this.usual,
    shares?: Pick<PracticeShares, 'market_id' | 'outcome'>,
  ): Promise<void> {
    const response = await fetch(`${this.adminUrl}/faucet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ exchange_id, account, amount, shares }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok) throw new Error(`${exchange_id} gives no credit: ${response.status}`);
  }
}

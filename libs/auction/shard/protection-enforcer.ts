import type { PolicyWatch } from '../admission/policy/policy-watch.js';
import { contractKey, type PolicySnapshot } from '../admission/policy/policy-snapshot.js';
import type { Instant } from '#libs/base/instant.js';
import { activeQuote } from '../rules/state.js';
import type { AuctionBook } from './memory/auction-book.js';
import type { Submit } from './auction-task.js';
import { PullQuoteTask, VoidTask } from './tasks/internal-tasks.js';
import type { ShardContext } from './tasks/shard-context.js';

export interface EnforcerPorts {
  readonly context: ShardContext;
  readonly book: AuctionBook;
  readonly policy: Pick<PolicyWatch, 'latest' | 'onChange'>;
  readonly submit: Submit;
}

/** Withdraws the quotes of makers whose protection has tripped, and voids auctions whose market has stopped trading. */
export class ProtectionEnforcer {
  private unsubscribe: () => void = () => undefined;

  constructor(private readonly ports: EnforcerPorts) {}

  start(): void {
    // An old snapshot is valid too: a closed market stays closed, and newer snapshots follow.
    const { latest } = this.ports.policy;
    if (latest !== undefined) this.handle(latest);
    this.unsubscribe = this.ports.policy.onChange((snapshot) => {
      this.handle(snapshot);
    });
  }

  stop(): void {
    this.unsubscribe();
  }

  private handle(snapshot: PolicySnapshot): void {
    for (const [maker, until] of snapshot.frozen) this.pull(maker, until);
    const closedMarkets = new Set<string>();
    for (const [key, contract] of snapshot.contracts)
      if (contract.status === 'CLOSED') closedMarkets.add(key);
    if (closedMarkets.size > 0) this.voidWith(closedMarkets);
  }

  /** A freeze may end before this owner learns of it. Quotes from before its end are withdrawn anyway. */
  private pull(maker: string, until: Instant): void {
    for (const entry of this.ports.book.of(maker)) {
      const quote = activeQuote(entry.head, maker);
      if (quote === undefined || quote.updated_at >= until) continue;
      this.ports.submit(new PullQuoteTask(this.ports.context, entry, maker, 'PROTECTION'));
    }
  }

  private voidWith(closedMarkets: ReadonlySet<string>): void {
    const reason = 'MARKET_STOPPED_TRADING';
    for (const entry of this.ports.book.all()) {
      const { status, terms } = entry.head;
      if (status !== 'OPEN' || !terms.routes.some((route) => closedMarkets.has(contractKey(route)))) continue;
      this.ports.submit(new VoidTask(this.ports.context, entry, { by: 'SYSTEM', reason }));
    }
  }
}

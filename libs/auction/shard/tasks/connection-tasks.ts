import type { DomainEvent } from '../../rules/events.js';
import { activeQuotes } from '../../rules/state.js';
import type { Instant } from '#libs/base/instant.js';
import { decideWithdraw } from '../../rules/decide/withdraw.js';
import { reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import type { ConnectionBook } from '../connections/connection-book.js';
import type { AuctionTask, AuctionTaskResult } from '../auction-task.js';
import { draftsOf, eventsOf, type Draft } from './drafts.js';
import { InternalTask } from './internal-tasks.js';
import type { Settle, ShardContext } from './shard-context.js';

const ACKNOWLEDGED: LinkReply = reply(200, {});
/** Notes in one append, because the size of an append is limited. */
const BATCH_SIZE = 500;

/** Journals what a new process must know about the connections. Settles after all earlier notes are durable. */
export class NotesTask implements AuctionTask {
  readonly orderingKey = 'connections';

  constructor(
    private readonly connections: ConnectionBook,
    readonly settle: Settle,
  ) {}

  prelude(): readonly DomainEvent[] {
    return [];
  }

  reservation(): undefined {
    return undefined;
  }

  decide(now: Instant): AuctionTaskResult {
    const drafts = this.connections.takeNotes(BATCH_SIZE).map((body) => ({ at: now, body }));
    const continuation = this.connections.owesNotes ? ({ unfinished: true } as const) : {};
    return { events: eventsOf(drafts), reply: () => ACKNOWLEDGED, ...continuation };
  }
}

/** Withdraws the quote of a lost connection, unless the connection was resumed before this task's turn. */
export class DisconnectTask extends InternalTask {
  constructor(
    context: ShardContext,
    entry: AuctionEntry,
    private readonly connectionId: string,
    private readonly isForfeit: () => boolean,
  ) {
    super(context, entry);
  }

  protected drafts(now: Instant): readonly Draft[] {
    if (!this.isForfeit()) return [];
    const { head } = this.entry;
    const quote = activeQuotes(head).find((active) => active.connection_id === this.connectionId);
    if (quote === undefined) return [];
    const decided = decideWithdraw(head, { quote_id: quote.quote_id, by: 'DISCONNECT' }, { now });
    return decided.ok ? draftsOf(head, decided.events) : [];
  }
}

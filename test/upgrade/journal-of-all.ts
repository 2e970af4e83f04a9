import type { AuctionState } from '#libs/auction/rules/state.js';
import { evolve } from '#libs/auction/rules/evolve/evolve.js';
import { plusMillis } from '#libs/base/instant.js';
import { decodeEvent, isOfAuction } from '#libs/auction/rules/event-versions.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { AuctionStory, OPENED_AT } from '#libs/testing/auctions/story.js';
import { randomSession, realistic, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';

const AUCTIONS = 20;

/** Auctions of all endings, and every other event that a journal may have. */
export function journalOfAll(): JournalEntry[] {
  const journal = randomSession(11, AUCTIONS);
  for (const event of realistic(failing().events, 'failing', journal.shard, 0)) journal.write(event);
  const at = plusMillis(OPENED_AT, 1);
  const data = { operator: uuidNamed('operator'), reason: 'drill' };
  journal.write({ type: 'SHARD_DRAINED', version: 1, at, data });
  journal.write({ type: 'SHARD_RESUMED', version: 1, at, data });
  return journal.records;
}

/** Events that random stories do not have. */
function failing(): AuctionStory {
  return new AuctionStory()
    .submits('mia')
    .happens({ type: 'CANCEL_REJECTED', data: { error: 'NOT_CANCELLABLE', message: 'It is too late.' } })
    .awards({ mia: 1_000_000 })
    .executes('mia', 'SUBMITTED')
    .executes('mia', 'RETRYING', 'LEDGER_BUSY')
    .executes('mia', 'FAILED', 'EXECUTION_DEADLINE_PASSED')
    .completes('EXECUTION_FAILED');
}

/** By auction. */
export function statesAfter(records: readonly JournalEntry[]): Record<string, AuctionState> {
  const states: Record<string, AuctionState> = {};
  for (const { kind, payload, sequence: position } of records) {
    const event = kind === 'event' ? decodeEvent(payload) : undefined;
    if (event === undefined || !isOfAuction(event)) continue;
    states[event.auction_id] = evolve(states[event.auction_id], { event, position });
  }
  return states;
}

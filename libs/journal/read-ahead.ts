import { nextTurn } from '#libs/platform/time/clock.js';
import type { JournalEntry } from './journal.js';

/** Page after page; the next one is on its way while the last is being worked on. */
export async function* readAhead(
  read: (fromSequence: number) => Promise<JournalEntry[]>,
  range: { readonly from: number; readonly to: number },
): AsyncGenerator<readonly JournalEntry[]> {
  if (range.from > range.to) return;
  let next = read(range.from);
  for (let from = range.from; from <= range.to;) {
    const page = await next;
    from += page.length;
    if (from <= range.to) {
      next = read(from);
      // It is waited for later than it may fail.
      next.catch(() => undefined);
      // A driver sends its question when the event loop comes round, and who is given the page may keep that from it for long.
      await nextTurn();
    }
    yield page;
  }
}

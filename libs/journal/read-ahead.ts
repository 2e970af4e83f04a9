import { nextTurn } from '#libs/platform/time/clock.js';
import type { JournalEntry } from './journal.js';

/** Page after page. Reads the next while the last is processed. */
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
      // It may fail before it is awaited.
      next.catch(() => undefined);
      // A driver sends its query when the event loop comes round, which processing of the page would delay.
      await nextTurn();
    }
    yield page;
  }
}

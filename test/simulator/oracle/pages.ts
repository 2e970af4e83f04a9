import type { Shown } from './told/shown.js';
import { must } from './violation.js';

const WHOLE = 'pages lack nothing';

/** The position of an item in a list; the newest comes first. */
export interface PageRow {
  readonly at: string;
  readonly id: string;
}

interface Page {
  readonly name: string;
  readonly rows: readonly PageRow[];
  /** Items that the whole list must contain. */
  readonly wanted: readonly PageRow[];
  readonly told: Shown;
}

interface Asked {
  readonly account: string;
  readonly limit?: number;
  readonly behind?: PageRow;
}

/** A page is in order, respects its limit, and is complete between its first and last item. */
export function checkPage(
  { account, limit = Infinity, behind }: Asked,
  { name, rows, wanted, told }: Page,
): void {
  const where = `${name} of ${account}`;
  const extra = Object.keys(told).filter((field) => field !== name && field !== 'next_cursor');
  must(extra.length === 0, WHOLE, () => `${where} come with ${extra.join()}`);
  must(rows.length <= limit, WHOLE, () => `${where}: ${rows.length} instead of ${limit}`);
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1] ?? behind;
    must(before === undefined || isNewer(before, row), WHOLE, () => `${where}: ${row.id} is out of order`);
  }
  const last = rows.at(-1);
  const goesOn = told.next_cursor !== undefined;
  must(!goesOn || last !== undefined, WHOLE, () => `${where}: an empty page has a next page`);
  const ids = new Set(rows.map(({ id }) => id));
  for (const row of wanted) {
    const isOnPage =
      (behind === undefined || isNewer(behind, row)) && !(goesOn && last !== undefined && isNewer(last, row));
    must(!isOnPage || ids.has(row.id), WHOLE, () => `${where} lack ${row.id}`);
  }
}

function isNewer(one: PageRow, other: PageRow): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id);
}

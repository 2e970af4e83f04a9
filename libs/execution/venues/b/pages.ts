import { VenueUnavailable } from '../port.js';
import type { VenueCall } from '../../rules/order.js';
import { bodyOf } from '../answers.js';
import type { BQuery, VenueBRequests } from './requests.js';

interface PagedRead<Row> {
  readonly user_id: string;
  readonly path: string;
  readonly query: BQuery;
  readonly read: (body: unknown) => {
    readonly rows: readonly Row[];
    readonly cursor?: string | null | undefined;
  };
  /** Only some venues have this path. A 404 then means that there are no rows. */
  readonly isOptional?: boolean;
  /** Reading stops after this row. */
  readonly until?: (row: Row) => boolean;
}

const LIMIT = 1_000;
const NO_SUCH_PATH = 404;
/** Bounds the read: an account with more pages fails. */
const MAX_PAGES = 200;

/** Reads all pages. An unreadable page fails the whole read. `call` is the last request. */
export async function readPages<Row>(
  requests: VenueBRequests,
  { user_id, path, query, read, isOptional = false, until = () => false }: PagedRead<Row>,
): Promise<{ readonly rows: readonly Row[]; readonly call: VenueCall }> {
  const all: Row[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { outcome, call } = await requests.signed({
      ...{ user_id, method: 'GET', path, operation: 'read' },
      query: { ...query, limit: LIMIT, cursor },
    });
    if (isOptional && outcome.what === 'answered' && outcome.status === NO_SUCH_PATH)
      return { rows: all, call };
    const { rows, cursor: next } = read(bodyOf(outcome));
    all.push(...rows);
    if (!next || rows.some(until)) return { rows: all, call };
    cursor = next;
  }
  throw new VenueUnavailable('the pages do not end');
}

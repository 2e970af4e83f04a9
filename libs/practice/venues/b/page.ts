const DEFAULT_LIMIT = 100;
const MOST = 1_000;

/**
 * A page, newest first, of a list that only grows at its end. The cursor counts the entries older than the page, so
 * new entries move nothing. Undefined for an invalid limit or cursor.
 */
export function page<T>(
  oldestFirst: readonly T[],
  query: URLSearchParams,
): { readonly items: readonly T[]; readonly cursor: string } | undefined {
  const limit = whole(query.get('limit'), DEFAULT_LIMIT);
  const end = whole(query.get('cursor'), oldestFirst.length);
  if (limit === undefined || end === undefined || limit < 1 || limit > MOST) return undefined;
  const start = Math.max(0, end - limit);
  const items = oldestFirst.slice(start, end).reverse();
  return { items, cursor: start === 0 ? '' : String(start) };
}

function whole(text: string | null, otherwise: number): number | undefined {
  if (text === null || text === '') return otherwise;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

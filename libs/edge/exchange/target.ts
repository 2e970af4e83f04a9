export interface Target {
  readonly path: string;
  /** The undecoded text after the question mark. */
  readonly query: string;
}

const ABSOLUTE = /^https?:\/\//i;

/** Splits a request target. Drops the authority of an absolute one (RFC 9112, 3.2.2). */
export function splitTarget(url: string): Target {
  const origin = ABSOLUTE.test(url) ? withoutAuthority(url) : url;
  const mark = origin.indexOf('?');
  return mark < 0
    ? { path: origin, query: '' }
    : { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}

function withoutAuthority(url: string): string {
  const rest = url.slice(url.indexOf('//') + 2);
  const end = rest.search(/[/?]/);
  if (end < 0) return '/';
  return rest[end] === '?' ? `/${rest.slice(end)}` : rest.slice(end);
}

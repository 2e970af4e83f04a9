import { createHash } from 'node:crypto';

const TAG_CHARS = 22;

/** The strong tag of a text. */
export function entityTag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, TAG_CHARS)}"`;
}

/** Whether `If-None-Match` names this tag (RFC 9110, 13.1.2: the comparison is the weak one). */
export function namesTag(ifNoneMatch: string | undefined, tag: string | undefined): boolean {
  if (ifNoneMatch === undefined || tag === undefined) return false;
  return ifNoneMatch
    .split(',')
    .map((named) => named.trim().replace(/^W\//, ''))
    .some((named) => named === '*' || named === tag);
}

import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { emailKey } from '../accounts/email.js';
import type { Attempt } from '../passwords/login-queue.js';

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Under what one attempt is counted. Digests, because people type passwords into the wrong field, and
 * because what is typed may be of any length.
 */
export function loginKeys(email: string, address: string | undefined): Attempt {
  return {
    email: digest(`email:${emailKey(email) ?? email}`),
    network: digest(`address:${address === undefined ? '' : networkOf(address)}`),
  };
}

/** One subscriber commands a whole /64 of IPv6, so all of it counts as one address. */
export function networkOf(address: string): string {
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return address;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill('0');
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

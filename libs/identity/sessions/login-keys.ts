import { createHash } from 'node:crypto';
import { networkOf } from '#libs/platform/network-of.js';
import { emailKey } from '../accounts/email.js';
import type { Attempt } from '../passwords/login-queue.js';

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

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

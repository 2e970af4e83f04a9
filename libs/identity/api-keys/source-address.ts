import { isIP } from 'node:net';

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** The form of a peer's address in lists and counts. A mapped IPv4 address becomes plain IPv4. */
export function plainAddress(peer: string): string {
  return MAPPED_IPV4.exec(peer)?.[1] ?? peer;
}

/** Compares by exact text. An empty list allows every address. */
export function isListed(list: readonly string[], peer: string): boolean {
  return list.length === 0 || list.includes(plainAddress(peer));
}

/** True for a single address, false for a network. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

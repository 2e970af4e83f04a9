import { isIP } from 'node:net';

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** The address of a peer as lists and counts know it: the mapped form of an IPv4 address is that address. */
export function plainAddress(peer: string): string {
  return MAPPED_IPV4.exec(peer)?.[1] ?? peer;
}

/** By exact text; an empty list lets everybody in. */
export function isListed(list: readonly string[], peer: string): boolean {
  return list.length === 0 || list.includes(plainAddress(peer));
}

/** One address, not a network. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

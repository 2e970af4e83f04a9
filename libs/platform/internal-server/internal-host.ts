import { networkInterfaces } from 'node:os';
import { z } from 'zod';
import type { FromText } from '../settings/setting-types.js';
import { StartFault } from '../process/start-fault.js';

const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]', '*', '0']);
const NAME = /^[a-z][a-z0-9._-]*$/i;

/** An address, a host name or the name of an interface. Never all interfaces: one of them may be public. */
export function internalHost(): FromText<string> {
  return z
    .string()
    .min(1, 'it must not be empty')
    .refine((host) => !EVERYWHERE.has(host), 'it must name one interface, or one address');
}

/** Whether a listener with this address listens on all interfaces. The kernel knows more spellings of that than any list. */
export function isEverywhere(address: string): boolean {
  return address === '::' || address.endsWith('0.0.0.0');
}

/** The first address of the interface of that name; any other text is an address or a host name already. */
export function addressOf(
  host: string,
  interfaces: NodeJS.Dict<readonly { address: string }[]> = networkInterfaces(),
): string {
  const found = NAME.test(host) ? interfaces[host] : undefined;
  if (found === undefined) return host;
  const [first] = found;
  if (first === undefined) throw new StartFault(`the interface ${host} has no address`);
  return first.address;
}

/** Sent by each of our processes when it opens a link. */
export const SERVICE_TOKEN_HEADER = 'x-service-token';
/** The name of the process that opens a link. */
export const PEER_HEADER = 'x-auction-peer';
/** The form in which a gateway wants lists and auctions. */
export const ACTIVE_ONLY_HEADER = 'x-auction-active-only';
export const READ_FALLBACK_HEADER = 'x-auction-owner-read-fallback';

/** Only our own processes may send these. An external request with one is refused. */
export const INTERNAL_HEADERS: readonly string[] = [
  SERVICE_TOKEN_HEADER,
  PEER_HEADER,
  ACTIVE_ONLY_HEADER,
  READ_FALLBACK_HEADER,
];

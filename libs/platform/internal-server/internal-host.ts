import { networkInterfaces } from 'node:os';
import { z } from 'zod';
import type { FromText } from '../settings/setting-types.js';
import { StartFault } from '../process/start-fault.js';

const ALL_INTERFACES = new Set(['0.0.0.0', '::', '[::]', '*', '0']);
const NAME = /^[a-z][a-z0-9._-]*$/i;

/** An address, a host name or the name of an interface. Never all interfaces, because one of them may be public. */
export function internalHost(): FromText<string> {
  return z
    .string()
    .min(1, 'it must not be empty')
    .refine((host) => !ALL_INTERFACES.has(host), 'it must name one interface, or one address');
}

/** True if a listener with this address listens on all interfaces. Checked on the bound address, because spellings vary. */
export function isEverywhere(address: string): boolean {
  return address === '::' || address.endsWith('0.0.0.0');
}

/** The first address of the interface with this name. Other texts are already addresses or host names. */
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

/** The header of the service token when a process opens a link. */
export const SERVICE_TOKEN_HEADER = 'x-service-token';
/** The header with the name of the process that opens a link. */
export const PEER_HEADER = 'x-auction-peer';
/** The form in which a gateway needs lists and auctions. */
export const ACTIVE_ONLY_HEADER = 'x-auction-active-only';
export const READ_FALLBACK_HEADER = 'x-auction-owner-read-fallback';

/** Headers that only our own processes may send. An external request with one of them is refused. */
export const INTERNAL_HEADERS: readonly string[] = [
  SERVICE_TOKEN_HEADER,
  PEER_HEADER,
  ACTIVE_ONLY_HEADER,
  READ_FALLBACK_HEADER,
];

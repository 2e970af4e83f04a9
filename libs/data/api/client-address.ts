import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { isAddress, plainAddress } from '#libs/identity/api-keys/source-address.js';
import type { ClientAddress } from './callers.js';

const PREFIX = /^\d{1,3}$/;
const BITS = { 4: 32, 6: 128 } as const;

/** An address, or a network such as `10.0.0.0/8`. */
export function isProxy(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const family = isIP(address);
  if (!isAddress(address) || more.length > 0 || (family !== 4 && family !== 6)) return false;
  return prefix === undefined || (PREFIX.test(prefix) && Number(prefix) <= BITS[family]);
}

/** The peer of the socket. If the peer is a trusted proxy, the last address in its X-Forwarded-For. */
export function clientAddresses(trusted: readonly string[]): ClientAddress {
  const proxies = listOf(trusted);
  return (request) => {
    const peer = plainAddress(request.socket.remoteAddress ?? '');
    if (!isAddress(peer) || !proxies.check(peer, familyOf(peer))) return peer;
    return lastForwarded(request) ?? peer;
  };
}

function lastForwarded({ headers }: IncomingMessage): string | undefined {
  const header = headers['x-forwarded-for'];
  const text = typeof header === 'string' ? header : header?.join(',');
  const last = plainAddress(text?.split(',').at(-1)?.trim() ?? '');
  return isAddress(last) ? last : undefined;
}

function listOf(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of trusted) {
    const [address = '', prefix] = each.split('/');
    const plain = plainAddress(address);
    if (prefix === undefined) list.addAddress(plain, familyOf(plain));
    else list.addSubnet(plain, Number(prefix), familyOf(plain));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

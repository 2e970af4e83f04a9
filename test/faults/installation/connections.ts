import { readFileSync } from 'node:fs';

const TABLE = '/proc/net/tcp';
const ESTABLISHED = '01';

/** The number of connections to ports of this machine, as the listeners see them. */
export function connectionsTo(ports: readonly number[]): number {
  return connectionsIn(readFileSync(TABLE, 'latin1'), ports);
}

/** The same from the kernel's table, which has one line for each end: number, own address, other address, state. */
export function connectionsIn(table: string, ports: readonly number[]): number {
  const wanted = new Set(ports);
  return table.split('\n').filter((line) => {
    const [, own = '', , state] = line.trim().split(/\s+/);
    return state === ESTABLISHED && wanted.has(Number.parseInt(own.split(':')[1] ?? '', 16));
  }).length;
}

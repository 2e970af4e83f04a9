import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import { nextTurn } from '#libs/platform/time/clock.js';
import { fromWire, toWire } from '../protocol/wire.js';
import { FrozenMap } from '../rules/frozen-map.js';
import type { Holdings } from '../rules/holdings.js';
import type { OrderState } from '../rules/order.js';
import { emptyUser, type CancelTimer, type UserState } from '../rules/user.js';
import type { VenueId } from '../rules/venues.js';
import type { Known, UserEntry } from './user-entry.js';
import type { Users } from './users.js';

/** Raise it with every change of the snapshot's form. */
export const CELL_SNAPSHOT_FORMAT = 5;

type Pairs<Value> = readonly (readonly [string, Value])[];

/** One user, as a line of the snapshot. */
interface UserLine {
  readonly user_id: string;
  readonly live: readonly OrderState[];
  readonly young: readonly OrderState[];
  readonly old: readonly OrderState[];
  readonly holdings: {
    readonly links: readonly (readonly [VenueId, { readonly account: string; readonly linked_at: string }])[];
    readonly cash: readonly (readonly [string, HoldingsValue<'cash'>])[];
    readonly positions: readonly (readonly [string, HoldingsValue<'positions'>])[];
    readonly transfers: readonly (readonly [string, HoldingsValue<'transfers'>])[];
    readonly differences: readonly (readonly [string, HoldingsValue<'differences'>])[];
  };
  readonly timers: readonly CancelTimer[];
  readonly keys: Pairs<Known>;
  readonly names: Pairs<Known>;
  readonly fills: Pairs<number>;
  readonly positions: Pairs<readonly number[]>;
  readonly booked: Pairs<Known>;
  readonly opened: readonly (readonly [VenueId, number])[];
  readonly touched: readonly (readonly [VenueId, number])[];
}

type HoldingsValue<Name extends keyof Holdings> =
  Holdings[Name] extends ReadonlyMap<string, infer Value> ? Value : never;

/** The input of a snapshot. States are immutable; entries added later are left out by their journal position. */
export interface CellMoment {
  readonly head: number;
  readonly users: readonly { readonly entry: UserEntry; readonly state: UserState }[];
}

export function momentOf(head: number, users: Users): CellMoment {
  const all = [...users.all()].map((entry) => ({ entry, state: entry.durable ?? emptyUser }));
  return { head, users: all };
}

const USERS_PER_TURN = 50;

/** The snapshot is compressed, since names and fills of ended orders stay for ever and repeat the same ids. */
export async function writeCellMoment(moment: CellMoment): Promise<Buffer> {
  const parts: Buffer[] = [];
  await pipeline(linesOf(moment), createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const part of compressed) parts.push(part);
  });
  return Buffer.concat(parts);
}

async function* linesOf({ head, users }: CellMoment): AsyncGenerator<string> {
  for (const [index, { entry, state }] of users.entries()) {
    if (index % USERS_PER_TURN === USERS_PER_TURN - 1) await nextTurn();
    yield `${toWire(lineOf(head, entry, state))}\n`;
  }
}

/** Reads line by line, since the whole snapshot may be longer than the longest string. */
export function readCellMoment(content: Buffer): UserEntry[] {
  const lines = gunzipSync(content);
  const entries: UserEntry[] = [];
  for (let from = 0; from < lines.length;) {
    const end = lines.indexOf('\n', from);
    entries.push(entryOf(asLine(fromWire(lines.toString('utf8', from, end)))));
    from = end + 1;
  }
  return entries;
}

function lineOf(head: number, entry: UserEntry, { live, ended, holdings, timers }: UserState): UserLine {
  const known = (map: ReadonlyMap<string, Known>): Pairs<Known> =>
    [...map].filter(([, { at }]) => at <= head);
  return {
    user_id: entry.user_id,
    live: [...live.values()],
    young: [...ended.young.values()],
    old: [...ended.old.values()],
    holdings: {
      links: [...holdings.links],
      cash: [...holdings.cash],
      positions: [...holdings.positions],
      transfers: [...holdings.transfers],
      differences: [...holdings.differences],
    },
    timers: [...timers.values()],
    keys: known(entry.keys),
    names: known(entry.names),
    fills: [...entry.fills].filter(([, at]) => at <= head),
    positions: [...entry.positions].flatMap(([id, all]): [string, number[]][] => {
      const before = all.filter((at) => at <= head);
      return before.length === 0 ? [] : [[id, before]];
    }),
    booked: known(entry.booked),
    opened: [...entry.opened].filter(([, at]) => at <= head),
    touched: [...entry.touched].map(([venue, at]) => [venue, Math.min(at, head)] as const),
  };
}

function entryOf(line: UserLine): UserEntry {
  const state: UserState = {
    live: ordersOf(line.live),
    ended: { young: ordersOf(line.young), old: ordersOf(line.old) },
    holdings: {
      links: new Map(line.holdings.links),
      cash: new Map(line.holdings.cash),
      positions: new Map(line.holdings.positions),
      transfers: new Map(line.holdings.transfers),
      differences: new Map(line.holdings.differences),
    },
    timers: new Map(line.timers.map((timer) => [timer.timer, timer])),
  };
  return {
    ...{ user_id: line.user_id, head: state, durable: state, parked: [] },
    keys: new Map(line.keys),
    names: new Map(line.names),
    fills: new Map(line.fills),
    positions: new Map(line.positions.map(([id, all]) => [id, [...all]])),
    booked: new Map(line.booked),
    opened: new Map(line.opened),
    touched: new Map(line.touched),
  };
}

function ordersOf(orders: readonly OrderState[]): FrozenMap<OrderState> {
  return FrozenMap.of(orders.map((order) => [order.terms.order_id, order] as const));
}

/** The snapshot's MAC and format number were checked before, so the line has this type. */
function asLine(value: unknown): UserLine {
  return value as UserLine;
}

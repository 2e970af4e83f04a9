import { SHAPES, within, type Shape } from './event-shapes.js';
import type { AuctionEvent, DomainEvent, EventType, ShardEvent } from './events.js';

/** Takes the data of an event from one version of its type to the next. */
export type Lift = (data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/**
 * What a type was and what it is. `lifts[0]` takes version 1 to version 2, and so on, so the current version is one more
 * than there are lifts: a new version is one more lift and a new shape, and no journal ever becomes unreadable.
 */
export interface EventHistory {
  readonly lifts: readonly Lift[];
  readonly shape: Shape;
}
export type EventRegistry = Readonly<Record<string, EventHistory>>;

/** No rule of this build reads such an event; it was written by a younger one, or by somebody else. */
export class UnknownEvent extends Error {
  constructor(
    readonly type: string,
    readonly version: unknown,
  ) {
    super(`no rule reads event ${type} in version ${String(version)}`);
    this.name = 'UnknownEvent';
  }
}

/** An event of a known type and version that is not what they promise. */
export class MalformedEvent extends Error {
  constructor(
    readonly type: string,
    readonly version: number,
    readonly field: string,
  ) {
    super(`event ${type} in version ${version} is malformed at ${field}`);
    this.name = 'MalformedEvent';
  }
}

const OF_NO_AUCTION: ReadonlySet<string> = new Set<ShardEvent['type']>([
  'CREATE_REJECTED',
  'ALL_WITHDRAWN',
  'CONNECTION_NOTED',
  'SHARD_DRAINED',
  'SHARD_RESUMED',
]);

export function isOfAuction(event: DomainEvent): event is AuctionEvent {
  return !OF_NO_AUCTION.has(event.type);
}

const REGISTRY: EventRegistry = Object.fromEntries(
  Object.entries(SHAPES).map(([type, shape]) => [type, { lifts: [], shape }]),
);

/** The version in which events of this type are written today. */
export function versionOf(type: EventType): number {
  return currentVersion(REGISTRY[type] ?? { lifts: [] });
}

export function encodeEvent(event: DomainEvent): string {
  return JSON.stringify(event);
}

/** Reads what `encodeEvent` wrote, today or in any earlier version. Never a guess: what is unknown or broken throws. */
export const decodeEvent = decoderFor(REGISTRY);

export function decoderFor(registry: EventRegistry): (json: string) => DomainEvent {
  const known = new Map(Object.entries(registry));
  return (json) => {
    const event = JSON.parse(json) as Written | null;
    const type = typeof event?.type === 'string' ? event.type : 'without a type';
    const history = known.get(type);
    if (event === null || history === undefined) throw new UnknownEvent(type, event?.version);
    const { version } = event;
    const current = currentVersion(history);
    if (typeof version !== 'number' || !(version >= 1 && version <= current && Number.isInteger(version))) {
      throw new UnknownEvent(type, version);
    }
    const broken = envelopeFault(event, type);
    if (broken !== undefined) throw new MalformedEvent(type, version, broken);
    const data = version === current ? event.data : lifted(event.data, history.lifts.slice(version - 1));
    const fault = history.shape(data);
    if (fault !== undefined) throw new MalformedEvent(type, version, within('data', fault));
    return (version === current ? event : { ...event, version: current, data }) as DomainEvent;
  };
}

interface Written {
  readonly type?: unknown;
  readonly version?: unknown;
  readonly at?: unknown;
  readonly auction_id?: unknown;
  readonly data?: unknown;
}

function currentVersion({ lifts }: Pick<EventHistory, 'lifts'>): number {
  return lifts.length + 1;
}

function lifted(data: unknown, lifts: readonly Lift[]): unknown {
  return lifts.reduce<unknown>((older, lift) => lift(older as Parameters<Lift>[0]), data);
}

function envelopeFault(event: Written, type: string): string | undefined {
  if (typeof event.at !== 'string') return 'at';
  if (typeof event.data !== 'object' || event.data === null) return 'data';
  return OF_NO_AUCTION.has(type) || typeof event.auction_id === 'string' ? undefined : 'auction_id';
}

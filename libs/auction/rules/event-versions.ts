import { SHAPES, within, type ValueCheck } from './event-shapes.js';
import type { AuctionEvent, DomainEvent, EventType, ShardEvent } from './events.js';

type Data = Readonly<Record<string, unknown>>;

/** How events of one type and one version are read. */
export interface EventVersion {
  readonly type: string;
  readonly version: number;
  readonly shape: ValueCheck;
  /** Converts data of an earlier version to the current one. Only rows of earlier versions have it. */
  readonly toCurrent?: (data: Data) => Data;
}

/** No rule of this build reads such an event. A newer build or a foreign program wrote it. */
export class UnknownEvent extends Error {
  constructor(
    readonly type: string,
    readonly version: unknown,
  ) {
    super(`no rule reads event ${type} in version ${String(version)}`);
    this.name = 'UnknownEvent';
  }
}

/** An event of a known type and version whose content does not match them. */
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

/** One row for every version that a journal may hold. The last row of a type is the version written today. */
const VERSIONS: readonly EventVersion[] = Object.entries(SHAPES).map(([type, shape]) => ({
  type,
  version: 1,
  shape,
}));

const CURRENT: ReadonlyMap<string, number> = new Map(VERSIONS.map(({ type, version }) => [type, version]));

/** The version in which events of this type are written today. */
export function versionOf(type: EventType): number {
  return CURRENT.get(type) ?? 1;
}

export function encodeEvent(event: DomainEvent): string {
  return JSON.stringify(event);
}

/** Decodes what `encodeEvent` wrote, in any version that has a row. Throws on anything unknown or malformed. */
export const decodeEvent = decoderFor(VERSIONS);

export function decoderFor(versions: readonly EventVersion[]): (json: string) => DomainEvent {
  const known = new Map<string, Map<unknown, EventVersion>>();
  for (const row of versions) {
    const ofType = known.get(row.type) ?? new Map<unknown, EventVersion>();
    known.set(row.type, ofType.set(row.version, row));
  }
  const current = new Map(versions.map(({ type, version }) => [type, version]));
  return (json) => {
    const event = JSON.parse(json) as Written | null;
    const type = typeof event?.type === 'string' ? event.type : 'without a type';
    const row = known.get(type)?.get(event?.version);
    if (event === null || row === undefined) throw new UnknownEvent(type, event?.version);
    const { version, shape, toCurrent } = row;
    const broken = envelopeFault(event, type);
    if (broken !== undefined) throw new MalformedEvent(type, version, broken);
    const fault = shape(event.data);
    if (fault !== undefined) throw new MalformedEvent(type, version, within('data', fault));
    if (toCurrent === undefined) return event as DomainEvent;
    return { ...event, version: current.get(type), data: toCurrent(event.data as Data) } as DomainEvent;
  };
}

interface Written {
  readonly type?: unknown;
  readonly version?: unknown;
  readonly at?: unknown;
  readonly auction_id?: unknown;
  readonly data?: unknown;
}

function envelopeFault(event: Written, type: string): string | undefined {
  if (typeof event.at !== 'string') return 'at';
  if (typeof event.data !== 'object' || event.data === null) return 'data';
  return OF_NO_AUCTION.has(type) || typeof event.auction_id === 'string' ? undefined : 'auction_id';
}

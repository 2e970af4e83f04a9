import type { DomainEvent, EventType } from './events.js';

/** Events as JSON text, which is all that a journal knows of them. */
type Json = Readonly<Record<string, unknown>>;

/** What one (type, version) is: a step to the next version, or the current shape. */
export interface VersionRow {
  readonly type: EventType;
  readonly version: number;
  /** Lifts the data to the version after this one; absent on the current version. */
  readonly lift?: (data: Json) => Json;
}

export class UnknownEvent extends Error {
  constructor(
    readonly type: string,
    readonly version: number,
  ) {
    super(`no rule reads event ${type} in version ${version}`);
    this.name = 'UnknownEvent';
  }
}

const TYPES: readonly EventType[] = [
  'AUCTION_OPENED',
  'QUOTE_SUBMITTED',
  'QUOTE_REVISED',
  'QUOTE_WITHDRAWN',
  'QUOTE_EXPIRED',
  'QUOTE_REJECTED',
  'CANCEL_REJECTED',
  'AUCTION_CANCELLED',
  'AUCTION_VOIDED',
  'AUCTION_CLOSED',
  'AUCTION_AWARDED',
  'AUCTION_NOT_AWARDED',
  'EXECUTION_SUBMITTED',
  'EXECUTION_RETRYING',
  'EXECUTION_CONFIRMED',
  'EXECUTION_FAILED',
  'AUCTION_COMPLETED',
  'CREATE_REJECTED',
  'ALL_WITHDRAWN',
];

/** One row for every version of every type that was ever written. A new version is one more row. */
export const EVENT_VERSIONS: readonly VersionRow[] = TYPES.map((type) => ({ type, version: 1 }));

export interface EventCodec {
  encode(event: DomainEvent): string;
  decode(text: string): DomainEvent;
  versionOf(type: EventType): number;
}

export function eventCodec(rows: readonly VersionRow[]): EventCodec {
  const byName = new Map(rows.map((row) => [`${row.type}/${row.version}`, row]));
  const current = new Map<string, number>();
  for (const { type, version } of rows) current.set(type, Math.max(version, current.get(type) ?? 0));
  const lifted = (event: DomainEvent): DomainEvent => {
    let { version } = event;
    let data: Json = event.data as Json;
    for (;;) {
      const row = byName.get(`${event.type}/${version}`);
      if (row === undefined) throw new UnknownEvent(String(event.type), version);
      if (row.lift === undefined) return { ...event, version, data } as DomainEvent;
      data = row.lift(data);
      version += 1;
    }
  };
  return {
    encode: (event) => JSON.stringify(event),
    decode(text) {
      const event = JSON.parse(text) as DomainEvent;
      return current.get(event.type) === event.version ? event : lifted(event);
    },
    versionOf: (type) => current.get(type) ?? 1,
  };
}

const codec = eventCodec(EVENT_VERSIONS);
export const encodeEvent = codec.encode;
export const decodeEvent = codec.decode;
export const versionOf = codec.versionOf;

import type { JournalWriter } from '#libs/journal/journal.js';
import { MAX_PAYLOAD_BYTES } from '#libs/journal/limits.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { BookEvent, MarketDataEvent } from '../rules/events.js';
import { type JournaledMarketData, writeRecord } from '../rules/event-codec.js';
import { encodeEvent, type EncodedEvent, UnstorableEvent } from './encoded-event.js';
import { type EventIdentity, identityOf, nameOf } from './identities.js';
import type { KnownIdentities } from './known-identities.js';
import type { SourceBatch } from './source.js';

/** What happened to the events of a batch. */
export interface TakenEvents {
  readonly journaled: number;
  /** Already known. */
  readonly known: number;
  /** Already known, with different content. */
  readonly conflicts: number;
  /** Cannot be stored. */
  readonly refused: number;
  readonly books: number;
  /** The sequence of the last record that this batch wrote, or of the journal's head if it wrote none. */
  readonly sequence: number;
}

export interface IngestWriterPorts {
  readonly journal: JournalWriter;
  readonly identities: KnownIdentities;
  readonly clock: Clock;
  /**
   * Receives the books of a batch. Those of a source that is not live are never sent again, so they must be stored when this
   * resolves.
   */
  readonly onBooks: (events: readonly BookEvent[], isLive: boolean) => Promise<void>;
  readonly onRefused: (event: MarketDataEvent, reason: string) => void;
  /** The cursor of each source, by name. */
  readonly cursors: ReadonlyMap<string, string>;
}

/** The limit of one append. Its last record may be a cursor. */
const MOST_RECORDS = 5_000;
const MOST_CHARS = 4_000_000;
/** A cursor without events is written at most this often. After a restart it may be read again, which does no harm. */
const CURSOR_NANOS = 5_000_000_000n;

interface FreshEvent extends EncodedEvent {
  readonly identity: EventIdentity;
}

/** The only writer of a provider's journal. It drops events that are already known. */
export class IngestWriter {
  private readonly cursors: Map<string, string>;
  private readonly writtenAt = new Map<string, bigint>();
  private previous: Promise<unknown> = Promise.resolve();

  constructor(private readonly ports: IngestWriterPorts) {
    this.cursors = new Map(ports.cursors);
  }

  cursor(source: string): string | undefined {
    return this.cursors.get(source);
  }

  /**
   * Resolves once the whole batch and its cursor are durable. Batches run one at a time. Rejects with a JournalFailure when the
   * journal cannot be written: then reopen it and follow the source from its last cursor.
   */
  take(source: string, batch: SourceBatch): Promise<TakenEvents> {
    const taken = this.previous.then(() => this.takeNext(source, batch));
    this.previous = taken.catch(() => undefined);
    return taken;
  }

  private async takeNext(source: string, { events, cursor, asOf }: SourceBatch): Promise<TakenEvents> {
    const { journal, onBooks } = this.ports;
    const books = events.filter((event) => event.type === 'BOOK');
    const { fresh, ...counted } = await this.newAmong(events.filter((event) => event.type !== 'BOOK'));
    if (books.length > 0) await onBooks(books, asOf !== undefined);
    await this.append(fresh, this.isCursorDue(source, cursor, fresh.length) ? { source, cursor } : undefined);
    return { ...counted, journaled: fresh.length, books: books.length, sequence: journal.head.sequence };
  }

  private async newAmong(
    events: readonly JournaledMarketData[],
  ): Promise<
    Pick<TakenEvents, 'known' | 'conflicts' | 'refused'> & { readonly fresh: readonly FreshEvent[] }
  > {
    const storable = events.flatMap((event) => this.encoded(event) ?? []);
    const digests = await this.ports.identities.digestsOf(storable.map(({ identity }) => identity));
    const fresh: FreshEvent[] = [];
    let conflicts = 0;
    for (const event of storable) {
      const name = nameOf(event.identity);
      const digest = digests.get(name);
      if (digest === undefined) {
        fresh.push(event);
        digests.set(name, event.digest);
      } else if (!digest.equals(event.digest)) {
        conflicts += 1;
      }
    }
    return {
      fresh,
      conflicts,
      known: storable.length - fresh.length,
      refused: events.length - storable.length,
    };
  }

  private encoded(event: JournaledMarketData): FreshEvent | undefined {
    try {
      const encoded = encodeEvent(event);
      if (Buffer.byteLength(encoded.payload) > MAX_PAYLOAD_BYTES) throw new UnstorableEvent('it is too long');
      return { ...encoded, identity: identityOf(event) };
    } catch (error) {
      if (!(error instanceof UnstorableEvent)) throw error;
      this.ports.onRefused(event, error.message);
      return undefined;
    }
  }

  private isCursorDue(source: string, cursor: string, fresh: number): boolean {
    if (this.cursors.get(source) === cursor) return false;
    const writtenAt = this.writtenAt.get(source);
    return (
      fresh > 0 || writtenAt === undefined || this.ports.clock.monotonicNanos() - writtenAt > CURSOR_NANOS
    );
  }

  /** The cursor is the last record of the last append, so it is never durable without the events before it. */
  private async append(
    fresh: readonly FreshEvent[],
    position: { readonly source: string; readonly cursor: string } | undefined,
  ): Promise<void> {
    const appends = splitIntoAppends(fresh);
    if (appends.length === 0 && position !== undefined) appends.push([]);
    for (const [index, events] of appends.entries()) {
      const payloads = events.map(({ payload }) => payload);
      if (position !== undefined && index === appends.length - 1) {
        payloads.push(writeRecord({ type: 'CURSOR', ...position }));
      }
      await this.appendOnce(events, payloads);
    }
    if (position === undefined) return;
    this.cursors.set(position.source, position.cursor);
    this.writtenAt.set(position.source, this.ports.clock.monotonicNanos());
  }

  private async appendOnce(events: readonly FreshEvent[], payloads: readonly string[]): Promise<void> {
    const { journal, identities } = this.ports;
    const { firstSequence } = await journal.append(payloads);
    for (const [index, { identity, digest }] of events.entries()) {
      identities.add(identity, { digest, sequence: firstSequence + index });
    }
  }
}

/** Splits the events into appends within the limits. */
function splitIntoAppends(events: readonly FreshEvent[]): FreshEvent[][] {
  const appends: FreshEvent[][] = [];
  let chars = MOST_CHARS;
  for (const event of events) {
    const last = appends.at(-1);
    chars += event.payload.length;
    if (last === undefined || chars > MOST_CHARS || last.length >= MOST_RECORDS) {
      appends.push([event]);
      chars = event.payload.length;
    } else {
      last.push(event);
    }
  }
  return appends;
}

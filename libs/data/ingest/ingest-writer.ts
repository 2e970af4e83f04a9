import type { JournalWriter } from '#libs/journal/journal.js';
import { MAX_PAYLOAD_BYTES } from '#libs/journal/limits.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { BookEvent, MarketDataEvent } from '../rules/events.js';
import { type JournaledMarketData, writeRecord } from '../rules/event-codec.js';
import { encodeEvent, type EncodedEvent, UnstorableEvent } from './encoded-event.js';
import { type EventIdentity, identityOf, nameOf } from './identities.js';
import type { KnownIdentities } from './known-identities.js';
import type { SourceBatch } from './source.js';

/** What has become of the events of a batch. */
export interface TakenEvents {
  readonly journaled: number;
  /** Known before. */
  readonly known: number;
  /** Known before with another content. */
  readonly conflicts: number;
  /** Nothing could hold them. */
  readonly refused: number;
  readonly books: number;
  /** Of the journal's last record that this batch has written, or of the one before. */
  readonly sequence: number;
}

export interface IngestWriterPorts {
  readonly journal: JournalWriter;
  readonly identities: KnownIdentities;
  readonly clock: Clock;
  /** What is not of a live source is in no later batch again, so it is stored when this resolves. */
  readonly onBooks: (events: readonly BookEvent[], isLive: boolean) => Promise<void>;
  readonly onRefused: (event: MarketDataEvent, reason: string) => void;
  /** Where sources go on, by name. */
  readonly cursors: ReadonlyMap<string, string>;
}

/** Of one append; its last record may be a cursor. */
const MOST_RECORDS = 5_000;
const MOST_CHARS = 4_000_000;
/** A cursor without events may be told again after a restart, and a source that polls gives one every second. */
const CURSOR_NANOS = 5_000_000_000n;

interface FreshEvent extends EncodedEvent {
  readonly identity: EventIdentity;
}

/** The only way into the journal of a provider. What is known already goes no further. */
export class IngestWriter {
  private readonly cursors: Map<string, string>;
  private readonly writtenAt = new Map<string, bigint>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly ports: IngestWriterPorts) {
    this.cursors = new Map(ports.cursors);
  }

  cursor(source: string): string | undefined {
    return this.cursors.get(source);
  }

  /**
   * Resolves once all of the batch is durable, position included. One batch at a time, whoever gives it. Rejects with a JournalFailure
   * when the journal cannot be written any more: then it is opened anew, and the source followed from its last cursor.
   */
  take(source: string, batch: SourceBatch): Promise<TakenEvents> {
    const taken = this.turn.then(() => this.takeNext(source, batch));
    this.turn = taken.catch(() => undefined);
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
    const sound = events.flatMap((event) => this.encoded(event) ?? []);
    const digests = await this.ports.identities.digestsOf(sound.map(({ identity }) => identity));
    const fresh: FreshEvent[] = [];
    let conflicts = 0;
    for (const event of sound) {
      const name = nameOf(event.identity);
      const digest = digests.get(name);
      if (digest === undefined) {
        fresh.push(event);
        digests.set(name, event.digest);
      } else if (!digest.equals(event.digest)) {
        conflicts += 1;
      }
    }
    return { fresh, conflicts, known: sound.length - fresh.length, refused: events.length - sound.length };
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

  /** The cursor stands behind the last of the events, in the same append. */
  private async append(
    fresh: readonly FreshEvent[],
    position: { readonly source: string; readonly cursor: string } | undefined,
  ): Promise<void> {
    const appends = cut(fresh);
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

/** Into what one append may hold. */
function cut(events: readonly FreshEvent[]): FreshEvent[][] {
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

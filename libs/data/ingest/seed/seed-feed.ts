import type { Clock } from '#libs/platform/time/clock.js';
import type { BookEvent } from '../../rules/events.js';
import { PROVIDERS } from '../../rules/providers.js';
import { floorTo, MICROS_PER_SECOND } from '../../rules/times.js';
import type { SourceBatch, SourceFeed } from '../source.js';
import { DAY, HOUR, MINUTE } from './calendar.js';
import { type SeedCursor, writeSeedCursor } from './seed-cursor.js';
import type { WorldSpan } from './spans.js';
import type { SeedWorld } from './world.js';
import type { WorldKeeper } from './world-keeper.js';

/** The span of one batch: of the history, and of what happened while this process was down. */
const HISTORY_SPAN = 5 * DAY;
const MISSED_SPAN = HOUR;
/** Windows and games that are open at the first start were listed at most this long before it. */
const LONGEST_WINDOW = 3 * DAY;
const NANOS_PER_MICRO = 1_000n;
const MICROS_PER_MILLI = 1_000;

export interface SeedFeedPorts {
  readonly clock: Clock;
  readonly worlds: WorldKeeper;
  /** Another source continues where the history ends. */
  readonly endsAtStart: boolean;
}

/** A feed of the seed: one provider, or its games and ticks. */
export class SeedFeed implements SourceFeed {
  readonly source = 'seed';

  constructor(
    readonly of: string,
    private readonly ports: SeedFeedPorts,
  ) {}

  async *follow(cursor: string | undefined, stop: AbortSignal): AsyncIterable<SourceBatch> {
    const { clock, worlds, endsAtStart } = this.ports;
    const { world, position } = await worlds.at(cursor);
    const begins = position.told;
    yield* this.inSpans(world, position, { from: begins, until: world.start }, HISTORY_SPAN);
    if (endsAtStart) {
      yield {
        events: this.booksAt(world, world.start),
        cursor: cursorAt(position, world.start),
        isCaughtUp: true,
      };
      await aborted(stop);
      return;
    }
    // An earlier run may have ended here, without the markets that were still open.
    if (begins === world.start) yield* this.replayOpenMarkets(world, position);
    yield* this.live(world, { ...position, told: Math.max(begins, world.start) }, { clock, stop });
  }

  async *backfill(from: number, to: number): AsyncIterable<SourceBatch> {
    const { worlds, endsAtStart } = this.ports;
    const { world, position } = await worlds.at(undefined);
    const end = endsAtStart ? world.start : this.now();
    const span = { from: Math.max(from, world.opens), until: Math.min(to, end) };
    yield* this.inSpans(world, position, span, DAY);
  }

  private *replayOpenMarkets(world: SeedWorld, position: SeedCursor): Iterable<SourceBatch> {
    const span = { from: world.start - LONGEST_WINDOW, until: world.start };
    yield { events: world.events(this.of, span), cursor: cursorAt(position, world.start), isCaughtUp: false };
  }

  private *inSpans(
    world: SeedWorld,
    position: SeedCursor,
    span: WorldSpan,
    most: number,
  ): Iterable<SourceBatch> {
    for (let from = span.from; from < span.until;) {
      const until = Math.min(from + most, span.until);
      yield {
        events: world.events(this.of, { from, until }),
        ...{ cursor: cursorAt(position, until), isCaughtUp: false },
      };
      from = until;
    }
  }

  /** Yields each second what happened in it. */
  private async *live(
    world: SeedWorld,
    position: SeedCursor,
    { clock, stop }: { readonly clock: Clock; readonly stop: AbortSignal },
  ): AsyncIterable<SourceBatch> {
    let from = position.told;
    for (let isFirst = true; !stop.aborted;) {
      const now = floorTo(this.now(), MICROS_PER_SECOND);
      if (now <= from) {
        await secondEnds(clock, stop);
        continue;
      }
      const until = Math.min(now, from + MISSED_SPAN);
      const isCaughtUp = until === now;
      const books = isCaughtUp ? this.booksOf(world, { from, until }, isFirst) : [];
      const events = [...world.events(this.of, { from, until }), ...books];
      yield { events, cursor: cursorAt(position, until), asOf: until, isCaughtUp };
      from = until;
      isFirst = !isCaughtUp;
    }
  }

  private booksOf(world: SeedWorld, span: WorldSpan, isFirst: boolean): BookEvent[] {
    if (isFirst || span.until - span.from > MINUTE) {
      return this.booksAt(world, span.until - MICROS_PER_SECOND);
    }
    const provider = PROVIDERS.find((each) => each === this.of);
    return provider === undefined ? [] : world.bookChanges(provider, span);
  }

  private booksAt(world: SeedWorld, at: number): BookEvent[] {
    const provider = PROVIDERS.find((each) => each === this.of);
    return provider === undefined ? [] : world.books(provider, at);
  }

  private now(): number {
    return Number(this.ports.clock.epochNanos() / NANOS_PER_MICRO);
  }
}

function cursorAt(position: SeedCursor, until: number): string {
  return writeSeedCursor({ ...position, told: until });
}

function secondEnds(clock: Clock, stop: AbortSignal): Promise<void> {
  const rest = Number(clock.epochNanos() / NANOS_PER_MICRO) % MICROS_PER_SECOND;
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      stop.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(Math.ceil((MICROS_PER_SECOND - rest) / MICROS_PER_MILLI), end);
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
  });
}

function aborted(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    stop.addEventListener('abort', () => resolve());
    if (stop.aborted) resolve();
  });
}

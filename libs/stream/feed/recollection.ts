import { pause, type Clock } from '#libs/platform/clock.js';
import type { StreamLimits } from '../limits.js';
import type { Chronicle } from '../ports.js';
import type { FeedEvent, Gain } from './change.js';
import { Chapter, type ChapterLimits } from './chapter.js';
import type { Feed } from './feed.js';
import { Turns } from './turns.js';

/** What the account's timelines gained out of one shard behind a position, up to another. */
export interface Section {
  readonly upTo: number;
  /** There is nothing behind it yet. */
  readonly isLast: boolean;
  events(): Iterable<FeedEvent>;
  /** The same, counted instead of told. */
  gains(): Iterable<Gain>;
}

export interface RecollectingPorts {
  readonly feed: Feed;
  readonly chronicle: Chronicle;
  readonly clock: Clock;
  readonly limits: Pick<StreamLimits, 'catchUpMillis' | 'recallsAtOnce'> & ChapterLimits;
}

const TRY_AGAIN_MILLIS = 100;
const NANOS_PER_MILLI = 1_000_000n;

/** The chronicle is away, or too far behind the feed. */
export class ChronicleAway extends Error {
  override readonly name = 'ChronicleAway';
}

export class Recollector {
  private readonly turns: Turns;

  constructor(private readonly ports: RecollectingPorts) {
    this.turns = new Turns(ports.limits.recallsAtOnce);
  }

  of(account: string): Recollection {
    return new Recollection(this.ports, this.turns, account);
  }
}

/**
 * Everything that ever happened to one account's timelines. What the feed remembers comes from there. What is older comes out
 * of the chronicle, chapter by chapter, from the account's own auctions alone: how much others do makes no difference to what
 * is found.
 */
export class Recollection {
  private kept: { readonly shard: number; readonly chapter: Chapter; readonly events: readonly FeedEvent[] } | undefined;

  constructor(
    private readonly ports: RecollectingPorts,
    private readonly turns: Turns,
    private readonly account: string,
  ) {}

  /** What is at hand, to be taken without waiting for anything; undefined where it must be recalled first. */
  behind(shard: number, position: number): Section | undefined {
    const { feed } = this.ports;
    const { account, kept } = this;
    if (feed.reaches(shard, position)) {
      return {
        upTo: feed.positions()[shard] ?? position,
        isLast: true,
        events: () => feed.since(account, shard, position),
        gains: () => feed.gainsSince(account, shard, position),
      };
    }
    if (kept?.shard !== shard || position < kept.chapter.behind || position >= kept.chapter.upTo) return undefined;
    const events = kept.events.filter((event) => event.position > position);
    return {
      upTo: kept.chapter.upTo,
      isLast: false,
      events: () => events,
      gains: () => events.map(({ auctionId }) => ({ auctionId, entries: 1 })),
    };
  }

  /** Afterwards what comes next behind this position is at hand. Fails with ChronicleAway, in the end. */
  async recall(shard: number, position: number): Promise<void> {
    await this.turns.take(async () => {
      const { clock, limits } = this.ports;
      const until = clock.monotonicNanos() + BigInt(limits.catchUpMillis) * NANOS_PER_MILLI;
      let cause: unknown;
      while (this.behind(shard, position) === undefined) {
        try {
          if (await this.read(shard, position)) return;
        } catch (error) {
          cause = error;
        }
        if (clock.monotonicNanos() >= until) throw new ChronicleAway(`shard ${shard} behind ${position}`, { cause });
        await pause(clock, TRY_AGAIN_MILLIS);
      }
    });
  }

  /** False while the chronicle has not come far enough. */
  private async read(shard: number, position: number): Promise<boolean> {
    const { feed, chronicle, limits } = this.ports;
    const { account } = this;
    const upTo = Math.min(await chronicle.position(shard), feed.positions()[shard] ?? 0);
    // Of what is over the chronicle knows, of the rest the feed: between them there must be no gap.
    if (upTo <= position || !feed.reaches(shard, upTo)) return false;
    const chapter = new Chapter(account, position, upTo, limits);
    const others = feed.openAt(account, shard, upTo);
    const wanted = { account, shard, behind: position, others, upTo: () => chapter.upTo };
    for await (const part of chronicle.histories(wanted)) chapter.add(part);
    this.kept = { shard, chapter, events: chapter.end() };
    return true;
  }
}

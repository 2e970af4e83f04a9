import type { Clock } from '#libs/platform/time/clock.js';
import type { Provider } from '../../rules/providers.js';
import { floorTo, MICROS_PER_SECOND } from '../../rules/times.js';
import { readSeedCursor, type SeedCursor } from './seed-cursor.js';
import { SeedWorld, type WorldOptions } from './world.js';

export interface SeedOptions {
  /** Used at the first start only. Later starts continue the stored world. */
  readonly seed: string;
  readonly clock: Clock;
  /** Reads a cursor that any feed of the seed has stored; undefined at the first start. */
  readonly stored: () => Promise<string | undefined>;
  /** Venues that another source feeds from the first start on. The seed ends for them there. */
  readonly endAtStart: ReadonlySet<Provider>;
  /** The density of the history; 1 by default. */
  readonly scale?: number;
}

export interface WorldAt {
  readonly world: SeedWorld;
  readonly position: SeedCursor;
}

const NANOS_PER_MICRO = 1_000n;

/** Holds the world, which begins when it is first requested. */
export class WorldKeeper {
  private begun: Promise<WorldAt> | undefined;

  constructor(private readonly options: SeedOptions) {}

  /** With a cursor, its position; otherwise the beginning of the history. */
  async at(cursor: string | undefined): Promise<WorldAt> {
    this.begun ??= this.begin().catch((error: unknown) => {
      this.begun = undefined;
      throw error;
    });
    const { world, position } = await this.begun;
    if (cursor === undefined) return { world, position };
    const own = readSeedCursor(cursor);
    const isSame = own.start === position.start && own.seed === position.seed && own.scale === position.scale;
    return { position: own, world: isSame ? world : this.worldOf(own) };
  }

  private async begin(): Promise<WorldAt> {
    const { seed, clock, stored, scale = 1 } = this.options;
    const cursor = await stored();
    const now = Number(clock.epochNanos() / NANOS_PER_MICRO);
    const options =
      cursor === undefined ? { seed, start: floorTo(now, MICROS_PER_SECOND), scale } : readSeedCursor(cursor);
    const world = this.worldOf(options);
    return { world, position: { ...options, told: world.opens } };
  }

  private worldOf({ seed, start, scale }: WorldOptions): SeedWorld {
    return new SeedWorld({ seed, start, scale, endAtStart: this.options.endAtStart });
  }
}

import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { ONE_DOLLAR, type PriceMicros } from './matching/order-book.js';
import type { PracticeVenue } from './venue/practice-venue.js';

const EVERY_MS = 500;
const CENT = 10_000;
const [LOWEST, HIGHEST] = [15 * CENT, 85 * CENT];
/** How much of the distance to its home a price moves in one step, and its largest random move. */
const PULL = 0.05;
const JITTER_CENTS = 3;

export interface LiquidityParts {
  readonly venue: PracticeVenue;
  readonly clock: Clock;
  readonly seed: number;
  /** Quotes each market only once, also across restarts. */
  readonly isStill: boolean;
}

interface Walk {
  readonly market_id: string;
  readonly home: PriceMicros;
  readonly chance: () => number;
  price: PriceMicros;
}

/** The bots of one venue. They quote the seeded markets, each around a price that wanders and returns to its home. */
export class BotLiquidity {
  private stopped: Cancel = () => undefined;
  private walks: readonly Walk[] = [];

  constructor(private readonly parts: LiquidityParts) {}

  start(): void {
    const { venue, clock, isStill } = this.parts;
    const seeded = [...venue.reads.markets()].filter(({ terms }) => terms.seeded);
    this.walks = seeded.map(({ terms }) => this.walkOf(terms.market_id));
    for (const { market_id: id, price } of this.walks)
      venue.quote(id, price, isStill ? `quote/${id}` : undefined);
    if (isStill) return;
    this.stopped = repeat(clock, EVERY_MS, () => {
      this.step();
      return Promise.resolve();
    });
  }

  step(): void {
    for (const walk of this.walks) {
      wander(walk);
      this.parts.venue.quote(walk.market_id, walk.price);
    }
  }

  stop(): void {
    this.stopped();
  }

  private walkOf(market_id: string): Walk {
    const chance = numbersFrom(this.parts.seed, market_id);
    const home = LOWEST + Math.floor((chance() * (HIGHEST - LOWEST)) / CENT) * CENT;
    return { market_id, home, chance, price: home };
  }
}

function wander(walk: Walk): void {
  const drift = (walk.home - walk.price) * PULL + (walk.chance() * 2 - 1) * JITTER_CENTS * CENT;
  const next = walk.price + Math.round(drift / CENT) * CENT;
  walk.price = Math.min(ONE_DOLLAR - CENT, Math.max(CENT, next));
}

const [FIRST, FACTOR] = [0x811c9dc5, 0x01000193];
const WORD = 2 ** 32;

/** Numbers between 0 and 1 that depend only on seed and name, by the 32-bit xorshift. */
function numbersFrom(seed: number, name: string): () => number {
  let state = FIRST;
  for (const letter of `${seed} ${name}`)
    state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), FACTOR) >>> 0;
  if (state === 0) state = FIRST;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / WORD;
  };
}

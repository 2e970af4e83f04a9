import { type Provider, REGISTERED } from '../../rules/providers.js';
import type { LiveSource } from '../live-reads/port.js';
import type { SourceFeed } from '../source.js';
import { SeedFeed } from './seed-feed.js';
import { SeedLiveSource } from './seed-live-source.js';
import { type SeedOptions, WorldKeeper } from './world-keeper.js';

export interface OpenedSeed {
  readonly feeds: readonly SourceFeed[];
  /** Live reads of the venues that the seed continues to feed. */
  readonly liveSources: ReadonlyMap<Provider, LiveSource>;
  /** Live reads of the venues that another source feeds since the first start, in their state at that time. */
  readonly endedSources: ReadonlyMap<Provider, LiveSource>;
}

/** Opens the seed: markets of all venues in one generated world. */
export function openSeed(options: SeedOptions): OpenedSeed {
  const { clock, endAtStart } = options;
  const worlds = new WorldKeeper(options);
  const feeds = [...REGISTERED, 'labels' as const].map(
    (of) => new SeedFeed(of, { clock, worlds, endsAtStart: of !== 'labels' && endAtStart.has(of) }),
  );
  const sourcesOf = (providers: readonly Provider[], endsAtStart: boolean): Map<Provider, LiveSource> =>
    new Map(providers.map((of) => [of, new SeedLiveSource(of, { clock, worlds, endsAtStart })]));
  return {
    feeds,
    liveSources: sourcesOf(
      REGISTERED.filter((provider) => !endAtStart.has(provider)),
      false,
    ),
    endedSources: sourcesOf(
      REGISTERED.filter((provider) => endAtStart.has(provider)),
      true,
    ),
  };
}

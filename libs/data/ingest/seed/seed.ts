import { type Provider, REGISTERED } from '../../rules/providers.js';
import type { LiveSource } from '../live-reads/port.js';
import type { SourceFeed } from '../source.js';
import { SeedFeed } from './seed-feed.js';
import { SeedLiveSource } from './seed-live-source.js';
import { type SeedOptions, WorldKeeper } from './world-keeper.js';

export interface OpenedSeed {
  readonly feeds: readonly SourceFeed[];
  /** Of the venues that it goes on to feed. */
  readonly liveSources: ReadonlyMap<Provider, LiveSource>;
  /** Of those that another source feeds from the first start on, as they stood then. */
  readonly endedSources: ReadonlyMap<Provider, LiveSource>;
}

/** Markets of all venues that have one world in common. */
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

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
}

/** Markets of all venues that have one world in common. */
export function openSeed(options: SeedOptions): OpenedSeed {
  const { clock, endAtStart } = options;
  const worlds = new WorldKeeper(options);
  const feeds = [...REGISTERED, 'labels' as const].map(
    (of) => new SeedFeed(of, { clock, worlds, endsAtStart: of !== 'labels' && endAtStart.has(of) }),
  );
  const live = REGISTERED.filter((provider) => !endAtStart.has(provider));
  return {
    feeds,
    liveSources: new Map(live.map((provider) => [provider, new SeedLiveSource(provider, { clock, worlds })])),
  };
}

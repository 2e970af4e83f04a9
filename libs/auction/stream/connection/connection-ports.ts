import type { Clock } from '#libs/platform/time/clock.js';
import type { Feed } from '../feed/feed.js';
import type { Recollector } from '../feed/recollection.js';
import type { StreamLimits } from '#libs/socket/limits.js';
import type { Archive, Commands, Presence, Sessions, StreamMeter } from '../ports.js';
import type { ResumeTokens } from '#libs/socket/resume-token.js';

/** What all connections of a gateway have in common. */
export interface ConnectionPorts {
  readonly feed: Feed;
  readonly recollector: Recollector;
  readonly tokens: ResumeTokens;
  readonly sessions: Sessions;
  readonly commands: Commands;
  readonly archive: Archive;
  readonly presence: Presence;
  readonly meter: StreamMeter;
  readonly clock: Clock;
  readonly limits: StreamLimits;
  /** For connections that begin here. */
  readonly newId: () => string;
  readonly onFault: (error: unknown) => void;
}

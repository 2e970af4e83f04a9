import type { Caller } from '#libs/edge/endpoint.js';
import type { ClientConnection, ConnectionPorts } from '#libs/socket/client-connection.js';
import type { ResumeTokens } from '#libs/socket/resume-token.js';
import type { Feed } from '../feed/feed.js';
import type { HistoryCatchUps } from '../feed/history-catch-up.js';
import type { Archive, Commands, Presence, StreamMeter } from '../ports.js';
import type { ResumePoint } from '../resume-point.js';
import type { StreamLimits } from '../stream-limits.js';
import type { Subscription } from '../subscriptions/subscription.js';

/** What all connections of a gateway share. */
export interface StreamPorts extends ConnectionPorts<Caller> {
  readonly feed: Feed;
  readonly histories: HistoryCatchUps;
  readonly tokens: ResumeTokens<ResumePoint>;
  readonly commands: Commands;
  readonly archive: Archive;
  readonly presence: Presence;
  readonly meter: StreamMeter;
  readonly limits: StreamLimits;
  /** Makes ids for new connections. */
  readonly newId: () => string;
}

/** A connection of the auctions' stream. Events are addressed to its subscriptions. */
export type StreamConnection = ClientConnection<Caller, Subscription>;

/** Runs a task as one of the requests in flight. A task that fails is answered with an error. */
export type RunRequest = (cmdId: string, task: () => Promise<void>) => void;

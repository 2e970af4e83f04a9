import type { ClientConnection, ConnectionPorts, EndedBy } from '#libs/socket/client-connection.js';
import type { ResumeTokens } from '#libs/socket/resume-token.js';
import type { VenueId } from '../../rules/venues.js';
import type { Commands, ProviderAccess, StreamCaller } from '../ports.js';
import type { Presence } from '../presence.js';
import type { ResumePoint } from '../resume-point.js';
import type { ResyncReason } from '../server-messages.js';
import type { StreamLimits } from '../stream-limits.js';
import type { Subscription } from '../subscriptions.js';
import type { UserEvents } from '../user-events.js';
import type { UserFolds } from '../user-folds.js';

export interface StreamMeter {
  opened(): void;
  /** Once for each, as soon as nothing more is sent to it. */
  closed(code: number, by: EndedBy): void;
  received(op: string): void;
  resumed(outcome: 'RESUMED' | 'INVALID' | 'EXPIRED'): void;
  resynced(reason: ResyncReason): void;
}

/** What all connections of a process have in common. */
export interface StreamPorts extends ConnectionPorts<StreamCaller> {
  readonly folds: UserFolds;
  readonly events: UserEvents;
  readonly tokens: ResumeTokens<ResumePoint>;
  readonly commands: Commands;
  readonly access: ProviderAccess;
  /** Those that are registered. */
  readonly venues: readonly VenueId[];
  readonly presence: Presence;
  readonly meter: StreamMeter;
  readonly limits: StreamLimits;
  readonly newId: () => string;
}

/** A connection of `/ws`. Events are addressed to its subscriptions. */
export type StreamConnection = ClientConnection<StreamCaller, Subscription>;

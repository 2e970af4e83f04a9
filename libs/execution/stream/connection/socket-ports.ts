import type { ClientConnection, ConnectionPorts } from '#libs/socket/client-connection.js';
import type { ConnectionMeter } from '#libs/socket/connection-metrics.js';
import type { ResumeTokens } from '#libs/socket/resume-token.js';
import type { VenueId } from '../../rules/venues.js';
import type { CommandTaker, VenueAccess, StreamCaller } from '../ports.js';
import type { ConnectionPresence } from '../presence.js';
import type { SocketPoint } from '../resume-point.js';
import type { SocketResyncReason } from '../server-messages.js';
import type { SocketLimits } from '../socket-limits.js';
import type { OrderSubscription } from '../subscriptions.js';
import type { UserEvents } from '../user-events.js';
import type { UserFolds } from '../user-folds.js';

/** What all connections of a process share. */
export interface SocketPorts extends ConnectionPorts<StreamCaller> {
  readonly folds: UserFolds;
  readonly events: UserEvents;
  readonly tokens: ResumeTokens<SocketPoint>;
  readonly commands: CommandTaker;
  readonly access: VenueAccess;
  /** The registered venues. */
  readonly venues: readonly VenueId[];
  readonly presence: ConnectionPresence;
  readonly meter: ConnectionMeter<SocketResyncReason>;
  readonly limits: SocketLimits;
  readonly newId: () => string;
}

/** A connection of `/ws`. Events are addressed to its subscriptions. */
export type SocketConnection = ClientConnection<StreamCaller, OrderSubscription>;

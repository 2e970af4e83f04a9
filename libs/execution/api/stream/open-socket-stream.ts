import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { JournalReader } from '#libs/journal/journal.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';
import type { Sessions } from '#libs/socket/session-guard.js';
import { ConnectionMetrics } from '#libs/socket/connection-metrics.js';
import { SocketServer } from '#libs/socket/socket-server.js';
import type { GatewayPresence, TraderRequest } from '../../protocol/cell-protocol.js';
import type { VenueId } from '../../rules/venues.js';
import { CellFeed } from '../../stream/cell-feed.js';
import type { CommandTaker, VenueAccess, StreamCaller } from '../../stream/ports.js';
import { resumePoints } from '../../stream/resume-point.js';
import { SOCKET_LIMITS, type SocketLimits } from '../../stream/socket-limits.js';
import { openSocketHub } from '../../stream/socket-hub.js';
import type { OrderSubscription } from '../../stream/subscriptions.js';
import { JournalUserEvents, LayeredUserEvents, type UserEvents } from '../../stream/user-events.js';
import { UserFolds } from '../../stream/user-folds.js';
import { askLiveOrders } from './live-orders.js';
import { ConnectionTeller } from './connection-teller.js';
import { SocketSeats } from './socket-seats.js';

/** A gateway's access to the cells. */
export interface StreamCells {
  readonly count: number;
  cellOf(user: string): number;
  ask(cell: number, request: TraderRequest | GatewayPresence): Promise<LinkReply>;
  onNotice(handle: (cell: number, notice: JournalNotice) => void): void;
}

export interface SocketStreamParts {
  readonly cells: StreamCells;
  readonly reader: JournalReader;
  /** Past events from the projection. Without it, only the latest records of the journals are read. */
  readonly projected?: UserEvents;
  readonly sessions: Sessions<StreamCaller>;
  readonly commands: CommandTaker;
  readonly access: VenueAccess;
  readonly venues: readonly VenueId[];
  readonly keys: readonly string[];
  /** Resume tokens of another incarnation of the journals are not valid. */
  readonly incarnation: { readonly id: string };
  readonly clock: Clock;
  readonly registry: Registry;
  readonly socketsOfUser: number;
  readonly limits?: Partial<SocketLimits>;
  /** How many records of a journal are read for a resumed connection. */
  readonly reach?: number;
  readonly onFault: (error: unknown, what: string) => void;
}

export interface SocketStream {
  readonly sockets: SocketServer<StreamCaller, OrderSubscription>;
  readonly seats: SocketSeats;
  /** Closes all sockets in order, and stops following the journals. */
  stop(): Promise<void>;
}

const METRICS = {
  open: 'sotto_execution_sockets',
  prefix: 'sotto_execution_socket',
  kind: 'op',
  connections: 'Sockets of order execution',
};

/** The default of `reach`. */
const REACH = 5_000;

/** Opens `/ws`. It accepts handshakes once this resolves. */
export async function openSocketStream(parts: SocketStreamParts): Promise<SocketStream> {
  const { cells, reader, clock, onFault } = parts;
  const limits = { ...SOCKET_LIMITS, ...parts.limits };
  const recent = new JournalUserEvents(reader, parts.reach ?? REACH);
  const events = parts.projected === undefined ? recent : new LayeredUserEvents(recent, parts.projected);
  const faulty = (error: unknown): void => {
    onFault(error, 'a message of a socket failed');
  };
  const feed = new CellFeed({
    ...{ reader, clock, cells: cells.count },
    onFailure: (error) => {
      onFault(error, 'the journal of a cell cannot be followed at present');
    },
  });
  await feed.start();
  cells.onNotice((cell, notice) => {
    feed.hear(cell, notice);
  });
  const ask = (user: string, request: TraderRequest): Promise<LinkReply> =>
    cells.ask(cells.cellOf(user), request);
  const folds = new UserFolds({
    ...{ feed, events, clock, limits, onFault: faulty },
    cellOf: (user) => cells.cellOf(user),
    liveOrders: (user) => askLiveOrders(ask, user, randomUUID()),
  });
  const own = { gateway: randomUUID(), ask, newRequestId: randomUUID };
  const seats = new SocketSeats({ ...own, max: parts.socketsOfUser });
  const presence = new ConnectionTeller({
    ...{ ...own, sockets: seats, cells: cells.count, clock },
    cellOf: (user) => cells.cellOf(user),
    askCell: (cell, request) => cells.ask(cell, request),
  });
  const { hub, start } = openSocketHub(
    {
      ...{ folds, events, clock, limits, onFault: faulty, newId: randomUUID },
      ...{ sessions: parts.sessions, commands: parts.commands, access: parts.access, venues: parts.venues },
      tokens: new ResumeTokens(parts.keys, resumePoints, parts.incarnation),
      presence,
      meter: new ConnectionMetrics(parts.registry, METRICS),
    },
    feed,
    parts.socketsOfUser,
  );
  const stopChecks = start();
  presence.start();
  const sockets = new SocketServer(hub, faulty);
  return {
    sockets,
    seats,
    stop: async () => {
      await sockets.drain();
      stopChecks();
      presence.stop();
      await feed.stop();
    },
  };
}

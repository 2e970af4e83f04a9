import { repeat } from '#libs/platform/time/clock.js';
import { ConnectionHub } from '#libs/socket/connection-hub.js';
import { openConnection, type Greeted } from './connection/conversation.js';
import type { SocketPorts } from './connection/socket-ports.js';
import type { CellFeed } from './cell-feed.js';
import type { StreamCaller } from './ports.js';
import type { OrderSubscription } from './subscriptions.js';

export type SocketHub = ConnectionHub<StreamCaller, OrderSubscription>;

/** How often venue access of callers is checked. */
const CHECK_MILLIS = 250;

/** All connections of one process. They are asked to leave when the feed can no longer follow a cell. */
export function openSocketHub(
  ports: SocketPorts,
  feed: CellFeed,
  socketsOfUser: number,
): { readonly hub: SocketHub; readonly start: () => () => void } {
  const { meter, clock, onFault } = ports;
  const greeted: Greeted = new Set();
  let endedCells = 0;
  const hub: SocketHub = new ConnectionHub({
    open: (socket, credentials) => openConnection(ports, greeted, socket, credentials),
    isWhole: () => feed.isWhole,
    reasonToLeave: () => {
      const hasEnded = feed.endedCells > endedCells;
      endedCells = feed.endedCells;
      return hasEnded ? 'CELL_STOPPED' : undefined;
    },
    meter,
    clock,
    connectionsPerAccount: socketsOfUser,
    onFault,
  });
  const start = (): (() => void) => {
    hub.start();
    return repeat(clock, CHECK_MILLIS, () => {
      for (const handler of [...greeted]) handler.look();
      return Promise.resolve();
    });
  };
  return { hub, start };
}

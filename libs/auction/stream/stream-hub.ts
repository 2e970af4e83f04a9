import type { Caller } from '#libs/edge/endpoint.js';
import { ConnectionHub } from '#libs/socket/connection-hub.js';
import { openConnection } from './connection/conversation.js';
import type { StreamPorts } from './connection/stream-ports.js';
import type { Subscription } from './subscriptions/subscription.js';

export type StreamHub = ConnectionHub<Caller, Subscription>;

/** All connections of one gateway's stream. They get `goaway` when the feed can no longer follow a shard. */
export function openStreamHub(ports: StreamPorts, connectionsPerAccount: number): StreamHub {
  const { feed, meter, clock, onFault } = ports;
  let stoppedShards = 0;
  return new ConnectionHub({
    open: (socket, credentials) => openConnection(ports, socket, credentials),
    isWhole: () => feed.isWhole,
    reasonToLeave: () => {
      const hasStopped = feed.stoppedShards.length > stoppedShards;
      stoppedShards = feed.stoppedShards.length;
      return hasStopped ? 'SHARD_STOPPED' : undefined;
    },
    meter,
    clock,
    connectionsPerAccount,
    onFault,
  });
}

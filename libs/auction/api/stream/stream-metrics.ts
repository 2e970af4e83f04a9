import { Gauge, type Registry } from 'prom-client';
import { ConnectionMetrics } from '#libs/socket/connection-metrics.js';
import type { Feed } from '../../stream/feed/feed.js';
import type { StreamMeter } from '../../stream/ports.js';

const NAMES = {
  open: 'sotto_stream_connections',
  prefix: 'sotto_stream',
  kind: 'type',
  connections: 'Stream connections',
};

export function streamMetrics(registry: Registry, feed: () => Feed): StreamMeter {
  const registers = [registry];
  new Gauge({
    name: 'sotto_stream_journal_position',
    help: 'The last journal record that streams were sent, by shard',
    labelNames: ['shard'],
    registers,
    collect() {
      for (const [shard, position] of feed().positions().entries()) this.set({ shard }, position);
    },
  });
  new Gauge({
    name: 'sotto_stream_stopped_shards',
    help: 'Shards that streams no longer follow, because a record could not be read',
    registers,
    collect() {
      this.set(feed().stoppedShards.length);
    },
  });
  return new ConnectionMetrics(registry, NAMES);
}

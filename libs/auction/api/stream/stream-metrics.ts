import { Counter, Gauge, type Registry } from 'prom-client';
import type { Feed } from '../../stream/feed/feed.js';
import type { EndedBy } from '#libs/socket/client-connection.js';
import type { StreamMeter } from '../../stream/ports.js';
import { CLOSE } from '#libs/socket/socket.js';
import type { ResyncReason } from '../../stream/server-messages.js';

const OURS: readonly number[] = Object.values(CLOSE);
/** Of RFC 6455 and its registry. What else clients close with is up to them, and would be as many series as they like. */
const OF_PROTOCOL = new Set([
  1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014,
]);

export class StreamMetrics implements StreamMeter {
  private readonly connections: Gauge;
  private readonly closes: Counter<'code' | 'by'>;
  private readonly messages: Counter<'type'>;
  private readonly resumes: Counter<'outcome'>;
  private readonly resyncs: Counter<'reason'>;

  constructor(registry: Registry, feed: () => Feed) {
    const registers = [registry];
    this.connections = new Gauge({
      name: 'sotto_stream_connections',
      help: 'Stream connections that are open',
      registers,
    });
    this.closes = new Counter({
      name: 'sotto_stream_closes_total',
      help: 'Stream connections that have ended, by close code and by who has closed them',
      labelNames: ['code', 'by'],
      registers,
    });
    for (const code of OURS) this.closes.inc({ code, by: 'gateway' }, 0);
    this.messages = new Counter({
      name: 'sotto_stream_messages_total',
      help: 'Messages of stream clients, by type',
      labelNames: ['type'],
      registers,
    });
    this.resumes = new Counter({
      name: 'sotto_stream_resumes_total',
      help: 'Resume tokens that were presented, by what became of them',
      labelNames: ['outcome'],
      registers,
    });
    this.resyncs = new Counter({
      name: 'sotto_stream_resyncs_total',
      help: 'Subscriptions that had to begin anew, by reason',
      labelNames: ['reason'],
      registers,
    });
    new Gauge({
      name: 'sotto_stream_journal_position',
      help: 'The last journal record that streams have been told of, by shard',
      labelNames: ['shard'],
      registers,
      collect() {
        for (const [shard, position] of feed().positions().entries()) this.set({ shard }, position);
      },
    });
    new Gauge({
      name: 'sotto_stream_stopped_shards',
      help: 'Shards of which streams are told nothing more, because a record could not be read',
      registers,
      collect() {
        this.set(feed().stoppedShards.length);
      },
    });
  }

  opened(): void {
    this.connections.inc();
  }

  closed(code: number, by: EndedBy): void {
    this.connections.dec();
    const isNamed = by === 'gateway' || OF_PROTOCOL.has(code);
    this.closes.inc({ code: isNamed ? code : 'other', by });
  }

  received(type: string): void {
    this.messages.inc({ type });
  }

  resumed(outcome: 'RESUMED' | 'INVALID' | 'EXPIRED'): void {
    this.resumes.inc({ outcome });
  }

  resynced(reason: ResyncReason): void {
    this.resyncs.inc({ reason });
  }
}

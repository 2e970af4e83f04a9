import { Counter, Gauge, type Registry } from 'prom-client';
import type { EndedBy } from '#libs/socket/client-connection.js';
import { CLOSE } from '#libs/socket/socket.js';
import type { SocketMeter } from '../../stream/connection/socket-ports.js';
import type { SocketResyncReason } from '../../stream/server-messages.js';

const OURS: readonly number[] = Object.values(CLOSE);
/** Of RFC 6455 and its registry. What else clients close with is up to them, and would be as many series as they like. */
const OF_PROTOCOL = new Set([1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013]);

export class SocketMetrics implements SocketMeter {
  private readonly connections: Gauge;
  private readonly closes: Counter<'code' | 'by'>;
  private readonly messages: Counter<'op'>;
  private readonly resumes: Counter<'outcome'>;
  private readonly resyncs: Counter<'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.connections = new Gauge({
      ...{ name: 'sotto_execution_sockets', help: 'Sockets of order execution that are open', registers },
    });
    this.closes = new Counter({
      name: 'sotto_execution_socket_closes_total',
      help: 'Sockets of order execution that have ended, by close code and by who has closed them',
      labelNames: ['code', 'by'],
      registers,
    });
    for (const code of OURS) this.closes.inc({ code, by: 'gateway' }, 0);
    this.messages = new Counter({
      name: 'sotto_execution_socket_messages_total',
      help: 'Messages of clients of order execution, by what they want',
      labelNames: ['op'],
      registers,
    });
    this.resumes = new Counter({
      name: 'sotto_execution_socket_resumes_total',
      help: 'Resume tokens that were presented, by what became of them',
      labelNames: ['outcome'],
      registers,
    });
    this.resyncs = new Counter({
      name: 'sotto_execution_socket_resyncs_total',
      help: 'Subscriptions to orders that had to begin anew, by reason',
      labelNames: ['reason'],
      registers,
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

  received(op: string): void {
    this.messages.inc({ op });
  }

  resumed(outcome: 'RESUMED' | 'INVALID' | 'EXPIRED'): void {
    this.resumes.inc({ outcome });
  }

  resynced(reason: SocketResyncReason): void {
    this.resyncs.inc({ reason });
  }
}

import { Counter, Gauge, type Registry } from 'prom-client';
import type { EndedBy } from './client-connection.js';
import { CLOSE } from './socket.js';

/** What a service counts of its connections. `Reason` is why a subscription had to begin anew. */
export interface ConnectionMeter<Reason extends string> {
  opened(): void;
  /** Once for each, as soon as nothing more is sent to it. */
  closed(code: number, by: EndedBy): void;
  /** A message of a client, by the name of its kind. */
  received(kind: string): void;
  resumed(outcome: 'RESUMED' | 'INVALID' | 'EXPIRED'): void;
  resynced(reason: Reason): void;
}

/** What a service calls its figures. */
export interface ConnectionMetricNames {
  readonly open: string;
  /** Before the names of all others. */
  readonly prefix: string;
  /** The label of what clients say. */
  readonly kind: string;
  /** As in `Sockets of order execution that are open`. */
  readonly connections: string;
}

const OURS: readonly number[] = Object.values(CLOSE);
/** Of RFC 6455 and its registry. What else clients close with is up to them, and would be as many series as they like. */
const OF_PROTOCOL = new Set([
  1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014,
]);

export class ConnectionMetrics<Reason extends string> implements ConnectionMeter<Reason> {
  private readonly connections: Gauge;
  private readonly closes: Counter<'code' | 'by'>;
  private readonly messages: Counter;
  private readonly resumes: Counter<'outcome'>;
  private readonly resyncs: Counter<'reason'>;

  constructor(registry: Registry, names: ConnectionMetricNames) {
    const registers = [registry];
    const { open, prefix, kind, connections } = names;
    const counter = <Label extends string>(
      name: string,
      help: string,
      ...labelNames: Label[]
    ): Counter<Label> => new Counter({ name: `${prefix}_${name}_total`, help, labelNames, registers });
    this.connections = new Gauge({ name: open, help: `${connections} that are open`, registers });
    const ended = `${connections} that have ended, by close code and by who has closed them`;
    this.closes = counter('closes', ended, 'code', 'by');
    for (const code of OURS) this.closes.inc({ code, by: 'gateway' }, 0);
    this.messages = counter('messages', `Messages of clients, by ${kind}`, kind);
    this.resumes = counter('resumes', 'Resume tokens that were presented, by what became of them', 'outcome');
    this.resyncs = counter('resyncs', 'Subscriptions that had to begin anew, by reason', 'reason');
  }

  opened(): void {
    this.connections.inc();
  }

  closed(code: number, by: EndedBy): void {
    this.connections.dec();
    const isNamed = by === 'gateway' || OF_PROTOCOL.has(code);
    this.closes.inc({ code: isNamed ? code : 'other', by });
  }

  received(kind: string): void {
    this.messages.labels(kind).inc();
  }

  resumed(outcome: 'RESUMED' | 'INVALID' | 'EXPIRED'): void {
    this.resumes.inc({ outcome });
  }

  resynced(reason: Reason): void {
    this.resyncs.inc({ reason });
  }
}

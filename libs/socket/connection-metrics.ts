import { Counter, Gauge, type Registry } from 'prom-client';
import type { EndedBy } from './client-connection.js';
import { CLOSE } from './socket.js';

/** Counts of a service's connections. `Reason` is why a subscription had to start again. */
export interface ConnectionMeter<Reason extends string> {
  opened(): void;
  /** Called once for each connection, as soon as nothing more is sent to it. */
  closed(code: number, by: EndedBy): void;
  /** Counts a message of a client by its kind. */
  received(kind: string): void;
  resumed(outcome: 'RESUMED' | 'INVALID' | 'EXPIRED'): void;
  resynced(reason: Reason): void;
}

/** A service's names for its metrics. */
export interface ConnectionMetricNames {
  readonly open: string;
  /** Prefix of the names of all other metrics. */
  readonly prefix: string;
  /** The label for the kind of a message. */
  readonly kind: string;
  /** For the help texts, as in `Sockets of order execution that are open`. */
  readonly connections: string;
}

const GATEWAY_CODES: readonly number[] = Object.values(CLOSE);
/** The codes of RFC 6455 and its registry. Clients choose any other code freely, so each would add a series. */
const PROTOCOL_CODES = new Set([
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
    const ended = `${connections} that have ended, by close code and by the side that closed`;
    this.closes = counter('closes', ended, 'code', 'by');
    for (const code of GATEWAY_CODES) this.closes.inc({ code, by: 'gateway' }, 0);
    this.messages = counter('messages', `Messages of clients, by ${kind}`, kind);
    this.resumes = counter('resumes', 'Resume tokens that were presented, by outcome', 'outcome');
    this.resyncs = counter('resyncs', 'Subscriptions that had to start again, by reason', 'reason');
  }

  opened(): void {
    this.connections.inc();
  }

  closed(code: number, by: EndedBy): void {
    this.connections.dec();
    const isNamed = by === 'gateway' || PROTOCOL_CODES.has(code);
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

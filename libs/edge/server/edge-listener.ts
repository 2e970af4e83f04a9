import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Dispatcher, type EdgePorts } from '../dispatcher.js';
import { endpointsOf } from '../endpoint-decorator.js';
import { Connections } from './connections.js';
import { createEdgeServer, stopListening, type Listener } from './edge-server.js';
import { SERVER_LIMITS, type ServerLimits } from './server-limits.js';
import { Upgrades, type Accept } from './upgrades.js';

/** Handles handshakes of protocols other than HTTP. */
export interface UpgradeHandler {
  accepts(request: IncomingMessage): boolean;
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** The public listener of one service: its endpoints, its dialect and the limits of its connections. */
export class EdgeListener {
  readonly server: Server;
  private readonly connections: Connections;
  private dispatch: Listener | undefined;
  private upgrades: UpgradeHandler | undefined;

  constructor(
    private readonly ports: EdgePorts,
    private readonly limits: ServerLimits = SERVER_LIMITS,
  ) {
    const connections = new Connections(limits, ports.clock);
    this.connections = connections;
    this.server = createEdgeServer(
      (request, response) => {
        if (this.dispatch === undefined) throw new Error('listening before any endpoint was mounted');
        this.dispatch(request, response);
      },
      { ...ports, limits, connections },
    );
    // Other upgrade requests get an ordinary HTTP reply, as RFC 9110 allows.
    Object.assign(this.server, {
      shouldUpgradeCallback: (request: IncomingMessage) => this.upgradesTo(request),
    });
    this.server.on('upgrade', (request, socket, head) => {
      connections.handOver(socket);
      void this.upgrades?.handle(request, socket, head);
    });
  }

  /**
   * Call before listening. `instances` are the injectables with `@Endpoint` methods. `accept` gets the handshakes for one of `paths`
   * that have passed the checks of the path's endpoint.
   */
  mount(instances: readonly object[], paths: readonly string[] = [], accept?: Accept): void {
    const { dialect } = this.ports;
    const dispatcher = new Dispatcher(endpointsOf(instances), this.limits, this.connections, this.ports);
    const refuseAll: Accept = () => dialect.refuse({ kind: 'not-found' });
    this.dispatch = dispatcher.handle;
    this.upgrades = new Upgrades(dispatcher, paths, accept ?? refuseAll, {
      ...this.ports,
      limits: this.limits,
    });
  }

  /** Replaces the handling of handshakes. Call after `mount` and before listening. */
  upgradeBy(handler: UpgradeHandler): void {
    this.upgrades = handler;
  }

  async listen(port: number, host: string): Promise<void> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
  }

  /** Still answers requests, and closes each connection after its reply. `onCut` gets the number of those cut off. */
  drain(onCut: (connections: number) => void = () => undefined): void {
    this.connections.drain(onCut);
  }

  /** Stops in order. New connections are accepted during the grace period of idle ones. */
  async close(): Promise<void> {
    this.drain();
    await this.connections.parting();
    await stopListening(this.server);
  }

  private upgradesTo(request: IncomingMessage): boolean {
    return this.upgrades?.accepts(request) ?? false;
  }
}

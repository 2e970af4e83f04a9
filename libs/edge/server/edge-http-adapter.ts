import type { IncomingMessage } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Connections } from '../connections.js';
import { Dispatcher, type EdgePorts } from '../dispatcher.js';
import { createEdgeServer, stopListening, type Listener } from './edge-server.js';
import { endpointsOf } from '../endpoint-decorator.js';
import { NOT_FOUND } from '../reply/reply.js';
import { SERVER_LIMITS, type ServerLimits } from '../server-limits.js';
import { Upgrades, type Accept } from './upgrades.js';

const refuseAll: Accept = () => NOT_FOUND;

/**
 * Nest on a server that holds the edge's limits. Once endpoints are mounted every request goes straight to the dispatcher:
 * on the way through Express each would change its prototype and run a router that can match nothing.
 */
export class EdgeHttpAdapter extends ExpressAdapter {
  private readonly connections: Connections;
  private dispatch: Listener | undefined;
  private upgrades: Upgrades | undefined;

  constructor(
    private readonly ports: EdgePorts,
    private readonly limits: ServerLimits = SERVER_LIMITS,
  ) {
    super();
    this.connections = new Connections(limits, ports.clock);
  }

  override initHttpServer(): void {
    const listener: Listener = (request, response) => {
      if (this.dispatch === undefined) throw new Error('listening before any endpoint was mounted');
      this.dispatch(request, response);
    };
    const { limits, connections } = this;
    const server = createEdgeServer(listener, { ...this.ports, limits, connections });
    // Anything else that asks for another protocol is answered in this one, as RFC 9110 lets it be.
    Object.assign(server, { shouldUpgradeCallback: (request: IncomingMessage) => this.upgradesTo(request) });
    server.on('upgrade', (request, socket, head) => {
      connections.handOver(socket);
      void this.upgrades?.handle(request, socket, head);
    });
    this.setHttpServer(server);
  }

  /**
   * Before listening. `instances`: the injectables whose methods carry `@Endpoint`. `accept` gets the handshakes that have
   * passed the checks of the endpoint of their path, if that is one of `paths`.
   */
  mount(instances: readonly object[], paths: readonly string[] = [], accept: Accept = refuseAll): void {
    const dispatcher = new Dispatcher(endpointsOf(instances), this.limits, this.connections, this.ports);
    this.dispatch = dispatcher.handle;
    this.upgrades = new Upgrades(dispatcher, paths, accept, { ...this.ports, limits: this.limits });
  }

  /** What is asked from now on is answered, and its connection closed behind the answer. `onCut` hears of whom that was not done for. */
  drain(onCut: (connections: number) => void = () => undefined): void {
    this.connections.drain(onCut);
  }

  /** In order: new connections are taken while those that ask nothing have their moment. */
  override async close(): Promise<void> {
    this.drain();
    await this.connections.parting();
    await stopListening(this.httpServer);
  }

  private upgradesTo(request: IncomingMessage): boolean {
    return this.upgrades?.accepts(request) ?? false;
  }
}

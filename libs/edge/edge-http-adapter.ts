import { ExpressAdapter } from '@nestjs/platform-express';
import { Connections } from './connections.js';
import { Dispatcher, type EdgePorts } from './dispatcher.js';
import { createEdgeServer, type Listener } from './edge-server.js';
import { endpointsOf } from './endpoint-decorator.js';
import { SERVER_LIMITS, type ServerLimits } from './server-limits.js';

/**
 * Nest on a server that holds the edge's limits. Once endpoints are mounted every request goes straight to the dispatcher:
 * on the way through Express each would change its prototype and run a router that can match nothing.
 */
export class EdgeHttpAdapter extends ExpressAdapter {
  private readonly connections: Connections;
  private dispatch: Listener | undefined;

  constructor(
    private readonly ports: EdgePorts,
    private readonly limits: ServerLimits = SERVER_LIMITS,
  ) {
    super();
    this.connections = new Connections(limits);
  }

  override initHttpServer(): void {
    const listener: Listener = (request, response) => {
      if (this.dispatch === undefined) throw new Error('listening before any endpoint was mounted');
      this.dispatch(request, response);
    };
    const { limits, connections } = this;
    this.setHttpServer(createEdgeServer(listener, { ...this.ports, limits, connections }));
  }

  /** Before listening. `instances`: the injectables whose methods carry `@Endpoint`. */
  mount(instances: readonly object[]): void {
    this.dispatch = new Dispatcher(endpointsOf(instances), this.limits, this.connections, this.ports).handle;
  }
}

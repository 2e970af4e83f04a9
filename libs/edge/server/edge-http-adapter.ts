import { ExpressAdapter } from '@nestjs/platform-express';
import type { EdgeListener } from './edge-listener.js';

/**
 * Runs Nest on listeners of the edge, one for each service. Requests go straight to their dispatcher: Express would change each
 * one's prototype and run a router that can match nothing. Nest knows one server, so the listeners listen by themselves.
 */
export class EdgeHttpAdapter extends ExpressAdapter {
  constructor(private readonly listeners: readonly [EdgeListener, ...EdgeListener[]]) {
    super();
  }

  override initHttpServer(): void {
    this.setHttpServer(this.listeners[0].server);
  }

  override async close(): Promise<void> {
    await Promise.all(this.listeners.map((listener) => listener.close()));
  }
}

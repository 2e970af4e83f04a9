import { ExpressAdapter } from '@nestjs/platform-express';
import type { EdgeListener } from './edge-listener.js';

/**
 * Runs Nest on listeners of the edge, one for each service. Requests bypass Express, which would change their prototypes and run
 * an empty router. Nest knows only one server, so each listener starts to listen by itself.
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

import type { DynamicModule, INestApplication } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Answered } from '#libs/edge/dispatcher.js';
import type { EdgeListener } from '#libs/edge/server/edge-listener.js';
import type { ServiceCatalogue } from '#libs/identity/principal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { gatewayConfig } from './config.js';
import type { GatewayIdentity } from './identity/open-identity.js';

export type GatewayConfig = Config<typeof gatewayConfig>;

/** A public listener of a service, and where it listens. */
export interface ServiceListener {
  readonly listener: EdgeListener;
  readonly port: number;
}

/** What the process has opened for all of its services. */
export interface ServiceParts {
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly clock: Clock;
  readonly tracing: Tracing;
  readonly pool: Pool;
  readonly identity: GatewayIdentity;
  readonly onAnswer: (answered: Answered) => void;
}

/** A service whose parts are open and which does not listen yet. */
export interface OpenService {
  /** Its endpoints and its documents are among the controllers of the module. */
  readonly module: DynamicModule;
  readonly listeners: readonly [ServiceListener, ...ServiceListener[]];
  /** Once the app has put the module together. */
  mount(app: INestApplication): Promise<void>;
  readiness(): Promise<Health>;
}

/** Everything that the app has to know of one service. */
export interface ServiceDefinition {
  readonly catalogue: ServiceCatalogue;
  /** Operations that are rare enough to be logged each time. */
  readonly loggedOperations: ReadonlySet<string>;
  open(parts: ServiceParts): Promise<OpenService>;
}

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

/** A public listener of a service, and its port. */
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

/** A service whose parts are open, before it listens. */
export interface OpenService {
  /** The controllers of the module include its endpoints and documents. */
  readonly module: DynamicModule;
  readonly listeners: readonly [ServiceListener, ...ServiceListener[]];
  /** Called once Nest has built the module. */
  mount(app: INestApplication): Promise<void>;
  readiness(): Promise<Health>;
}

/** Everything that the app needs to know about one service. */
export interface ServiceDefinition {
  readonly catalogue: ServiceCatalogue;
  /** Operations that are rare enough to log every time. */
  readonly loggedOperations: ReadonlySet<string>;
  open(parts: ServiceParts): Promise<OpenService>;
}

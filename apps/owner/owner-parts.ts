import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { ownerConfig } from './config.js';

/** What an owner's process has before anything is opened. */
export interface OwnerParts {
  readonly config: Config<typeof ownerConfig>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly server: Server;
  readonly clock: Clock;
  readonly tracing: Tracing;
}

import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { cellConfig } from './config.js';

/** What a cell's process has before anything is opened. */
export interface CellParts {
  readonly config: Config<typeof cellConfig>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly server: Server;
  readonly clock: Clock;
  readonly tracing: Tracing;
}

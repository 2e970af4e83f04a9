import { auctionService } from './auction/auction-service.js';
import { dataService } from './data/data-service.js';
import { executionService } from './execution/execution-service.js';
import type { ServiceName } from '#libs/platform/processes/catalogue.js';
import type { ServiceDefinition } from './service.js';

/** Every service that a gateway can serve. */
export const SERVICES: Readonly<Record<ServiceName, ServiceDefinition>> = {
  auction: auctionService,
  execution: executionService,
  data: dataService,
};

import { endpointSpecsOf } from '#libs/edge/endpoint-decorator.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { ApiKeysController } from '../account/api-keys.controller.js';
import { CredentialsController } from '../account/credentials.controller.js';
import { ExchangesController } from '../exchanges/exchanges.controller.js';
import { ExecutionHealthController } from '../health.controller.js';
import { OrdersController } from '../orders/orders.controller.js';
import { ExposureController } from '../positions/exposure.controller.js';
import { tabledEndpoints } from '../rpc/procedures.controller.js';

const DECLARING = [
  ...[OrdersController, ExchangesController, ExposureController, ExecutionHealthController],
  ...[CredentialsController, ApiKeysController],
];

/** Every endpoint of order execution. */
export function executionSpecs(): readonly EndpointSpec[] {
  const tabled = tabledEndpoints(() => {
    throw new Error('an endpoint of the interface document cannot be called');
  });
  return [...endpointSpecsOf(DECLARING), ...tabled.map(({ spec }) => spec)];
}

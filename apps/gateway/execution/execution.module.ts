import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ApiKeysController } from '#libs/execution/api/account/api-keys.controller.js';
import { CredentialsController } from '#libs/execution/api/account/credentials.controller.js';
import { ExchangesController } from '#libs/execution/api/exchanges/exchanges.controller.js';
import { ExecutionHealthController } from '#libs/execution/api/health.controller.js';
import { OrdersController } from '#libs/execution/api/orders/orders.controller.js';
import { ExposureController } from '#libs/execution/api/positions/exposure.controller.js';
import { ProceduresController } from '#libs/execution/api/rpc/procedures.controller.js';

/** The injectables whose methods answer requests about orders. */
export const EXECUTION_CONTROLLERS = [
  ExecutionHealthController,
  OrdersController,
  ExchangesController,
  ExposureController,
  ProceduresController,
  CredentialsController,
  ApiKeysController,
];

const BUILT_BY_NEST = [
  ExecutionHealthController,
  OrdersController,
  ExchangesController,
  ExposureController,
  ProceduresController,
];

/** Takes what the process has opened as providers. */
@Module({})
export class ExecutionModule {
  static with(opened: readonly Provider[]): DynamicModule {
    return { module: ExecutionModule, providers: [...opened, ...BUILT_BY_NEST] };
  }
}

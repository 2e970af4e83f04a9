import { expect, it } from '@jest/globals';
import { endpointSpecsOf } from '#libs/edge/endpoint-decorator.js';
import { ApiKeysController } from '../account/api-keys.controller.js';
import { CredentialsController } from '../account/credentials.controller.js';
import { chainEndpoints } from '../exchanges/chain-endpoints.js';
import { ExchangesController } from '../exchanges/exchanges.controller.js';
import { ExecutionHealthController } from '../health.controller.js';
import { OrdersController } from '../orders/orders.controller.js';
import { ExposureController } from '../positions/exposure.controller.js';
import { executionDocument } from './http-document.js';

const SPECS = [
  ...endpointSpecsOf([
    ...[OrdersController, ExchangesController, ExposureController, ExecutionHealthController],
    ...[CredentialsController, ApiKeysController],
  ]),
  ...chainEndpoints().map(({ spec }) => spec),
];

it('describes every endpoint once, and refers to nothing that it does not have', () => {
  const document = executionDocument(SPECS);
  const ids = SPECS.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const text = JSON.stringify(document);
  for (const id of ids) expect(text).toContain(`"operationId":"${id}"`);
  const parts: unknown = JSON.parse(text);
  for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path
      .split('/')
      .reduce<unknown>(
        (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
        parts,
      );
    expect({ path, isThere: found !== undefined }).toEqual({ path, isThere: true });
  }
});

import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { named } from '#libs/edge/documents/components.js';
import { record, words, type Shape } from '#libs/edge/documents/shapes.js';
import { Readiness } from './readiness.js';

const status = (name: string, meanings: Readonly<Record<string, string>>): Shape =>
  named(name, record({ status: words(meanings) }));

const healthz = endpoint({
  operationId: 'healthz',
  method: 'GET',
  path: '/healthz',
  access: 'public',
  summary: 'Whether this process lives',
  answers: { 200: { description: 'It lives.', body: status('Alive', { healthy: 'it answers' }) } },
});

const readyz = endpoint({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  access: 'public',
  summary: 'Whether this process takes new work',
  answers: {
    200: { description: 'It does.', body: status('Ready', { ready: 'it takes new work' }) },
    503: {
      description: 'It does not; `status` says why.',
      body: status('NotReady', {
        draining: 'it is about to stop',
        control_schema_unreachable: 'the database does not answer',
        owners_unreachable: 'no owner can be asked',
      }),
    },
  },
});

@Injectable()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Endpoint(healthz)
  healthz(): Reply {
    return { status: 200, body: { status: 'healthy' } };
  }

  @Endpoint(readyz)
  async readyz(): Promise<Reply> {
    const { ok, status } = await this.readiness.check();
    return { status: ok ? 200 : 503, body: { status } };
  }
}

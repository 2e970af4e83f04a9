import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply.js';
import { Readiness } from './readiness.js';

const healthz = endpoint({
  operationId: 'healthz',
  method: 'GET',
  path: '/healthz',
  access: 'public',
  summary: 'Whether this process lives',
  statuses: { 200: [] },
});

const readyz = endpoint({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  access: 'public',
  summary: 'Whether this process takes new work',
  statuses: { 200: [], 503: [] },
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

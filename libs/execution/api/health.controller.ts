import { Injectable } from '@nestjs/common';
import { constant, record } from '#libs/edge/documents/shapes.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';

export const health = endpoint({
  operationId: 'health',
  method: 'GET',
  path: '/health',
  access: 'public',
  summary: 'Whether the service answers. It uses no other part of the service',
  answers: { 200: { description: 'The service answers.', body: record({ status: constant('ok') }) } },
});

const OK: Reply = { status: 200, body: { status: 'ok' } };

@Injectable()
export class ExecutionHealthController {
  @Endpoint(health)
  get(): Reply {
    return OK;
  }
}

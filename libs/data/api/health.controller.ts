import { Injectable } from '@nestjs/common';
import { constant, record } from '#libs/edge/documents/shapes.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { dataReply } from './replies.js';

export const dataHealth = endpoint({
  operationId: 'health',
  method: 'GET',
  path: '/health',
  access: 'public',
  summary: 'Whether the service answers at all; it touches nothing',
  answers: { 200: { description: 'It does.', body: record({ status: constant('ok') }) } },
});

@Injectable()
export class DataHealthController {
  @Endpoint(dataHealth)
  get(): Reply {
    return dataReply({ status: 'ok' });
  }
}

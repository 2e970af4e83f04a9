import { named } from '#libs/edge/documents/components.js';
import { constant, record, words, type Shape } from '#libs/edge/documents/shapes.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import { endpoint } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { DataReadiness } from './data-readiness.js';
import { dataReply } from './replies.js';

const status = (name: string, meanings: Readonly<Record<string, string>>): Shape =>
  named(name, record({ status: words(meanings) }));

export const dataHealth = endpoint({
  operationId: 'health',
  method: 'GET',
  path: '/health',
  access: 'public',
  summary: 'Whether the service answers at all; it touches nothing',
  answers: { 200: { description: 'It does.', body: record({ status: constant('ok') }) } },
});

export const dataReadyz = endpoint({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  access: 'public',
  summary: 'Whether all is applied that the sources held at the start, and the service goes on',
  answers: {
    200: { description: 'It is.', body: status('Ready', { ready: 'all is applied' }) },
    503: {
      description: 'It is not; `status` says why.',
      body: status('NotReady', {
        starting: 'not all is applied yet',
        draining: 'the service is about to stop',
        database_unreachable: 'the database does not answer',
      }),
    },
  },
});

export class DataHealthController {
  constructor(private readonly readiness: Pick<DataReadiness, 'check'>) {}

  @Endpoint(dataHealth)
  get(): Reply {
    return dataReply({ status: 'ok' });
  }

  @Endpoint(dataReadyz)
  async ready(): Promise<Reply> {
    const { ok, status: word } = await this.readiness.check();
    return dataReply({ status: word }, { status: ok ? 200 : 503 });
  }
}

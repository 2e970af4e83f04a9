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
  summary: 'Whether the service answers; it depends on nothing else',
  answers: { 200: { description: 'The service answers.', body: record({ status: constant('ok') }) } },
});

export const dataReadyz = endpoint({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  access: 'public',
  summary: 'Whether the data of the start are applied and the service is not stopping',
  answers: {
    200: { description: 'The service is ready.', body: status('Ready', { ready: 'all data are applied' }) },
    503: {
      description: 'The service is not ready; `status` tells why.',
      body: status('NotReady', {
        starting: 'not all data are applied yet',
        draining: 'the service is stopping',
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
    const { ok, status } = await this.readiness.check();
    return dataReply({ status }, { status: ok ? 200 : 503 });
  }
}

import { MISMATCH } from '#libs/edge/decoding/decode.js';
import type { BoundEndpoint } from '#libs/edge/endpoint.js';
import { endpointsOf } from '#libs/edge/endpoint-decorator.js';
import { payloadOf, type Reply } from '#libs/edge/reply/reply.js';
import type { WireEnd } from '../wire/wire-end.js';
import { principalOf } from './stream-door.js';

/** A request as the edge parsed it; only the fields of the body are checked here. */
export interface HttpRequest {
  readonly id: number;
  readonly operation: string;
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: object;
  readonly key?: string;
}

export interface SimulatedHttpAnswer {
  readonly id: number;
  readonly status: number;
  readonly body: string;
  readonly isCompleted: boolean;
}

const INVALID: Reply = { status: 400, body: '{"error":"invalid_json"}' };
const FAILED: Reply = { status: 500, body: '{"error":"internal_error"}' };

/** What the dispatcher does after a request has passed its checks: it calls the operation's endpoint. */
export class HttpDesk {
  private readonly endpoints: ReadonlyMap<string, BoundEndpoint>;

  constructor(
    controllers: readonly object[],
    private readonly newRequestId: () => string,
  ) {
    this.endpoints = new Map(
      endpointsOf(controllers).map((endpoint) => [endpoint.spec.operationId, endpoint]),
    );
  }

  serve(end: WireEnd, account: string): void {
    end.onText = (text) => {
      const request = JSON.parse(text) as HttpRequest;
      void this.answer(request, account)
        .catch(() => FAILED)
        .then((reply) => {
          const { status, headers } = reply;
          const isCompleted = headers?.['x-auction-completed-as-of'] !== undefined;
          end.send(JSON.stringify({ id: request.id, status, body: payloadOf(reply) ?? '', isCompleted }));
        });
    };
  }

  private async answer(
    { operation, ids = {}, query, body, key }: HttpRequest,
    account: string,
  ): Promise<Reply> {
    const endpoint = this.endpoints.get(operation);
    if (endpoint === undefined) throw new Error(`there is no operation ${operation}`);
    const read = endpoint.spec.body?.decode(body ?? {});
    if (read === MISMATCH) return INVALID;
    return endpoint.handle({
      requestId: this.newRequestId(),
      principal: principalOf(account),
      bearerToken: undefined,
      ids,
      query,
      body: read,
      idempotencyKey: key,
      accept: undefined,
      remoteAddress: undefined,
    });
  }
}

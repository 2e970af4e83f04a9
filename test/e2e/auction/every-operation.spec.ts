import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type EndpointSpec, templateOf } from '#libs/edge/endpoint.js';
import { canQueryFail } from '#libs/edge/checks/parts.js';
import type { ApiClient, ApiRequest } from '#libs/client/api-client.js';
import { specs } from '../../documents/described-interface.js';
import { rawExchange, recordRaw } from '../raw-exchange.js';
import { sharedFloor, type TradingFloor, verdict } from '../trading-floor.js';

/** Checks that follow from an operation's declaration, so operations added later are covered. */
jest.setTimeout(30_000);

const TOO_MUCH = 'x'.repeat(1_048_577);
/** A request that stalls is ended after ten seconds, checked now and then. */
const PATIENCE_MS = 15_000;
const KEY = { 'idempotency-key': 'a-key' };

let floor: TradingFloor;
let members: Readonly<Record<string, ApiClient>>;

beforeAll(async () => {
  floor = await sharedFloor();
  const [viewer, operator, auditor] = await floor.traders('viewer-1', 'operator-1', 'auditor-1');
  const [originator, maker] = await floor.newTraders('originator', 'maker');
  members = {
    VIEWER: viewer!.api,
    OPERATOR: operator!.api,
    AUDITOR: auditor!.api,
    ORIGINATOR: originator.api,
    MARKET_MAKER: maker.api,
  };
}, 60_000);

afterAll(() => {
  floor.close();
});

/** A caller that the endpoint is meant for. */
function memberFor({ access, role, requiredRole, capability }: EndpointSpec): ApiClient {
  const wanted = role ?? requiredRole ?? (capability === 'auction:quote' ? 'MARKET_MAKER' : 'ORIGINATOR');
  const api = members[wanted];
  return access === 'session' && api !== undefined ? api : floor.anybody;
}

/** Well-formed ids of objects that never existed. */
function pathOf(spec: EndpointSpec, id = '00000000-0000-8000-8000-000000000000'): string {
  return spec.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    spec.ids?.[name]?.accepts(id) === false ? '0' : id,
  );
}

async function answerTo(
  spec: EndpointSpec,
  asked: ApiRequest & { readonly path?: string; readonly api?: ApiClient },
): Promise<string> {
  const { path = pathOf(spec), api = memberFor(spec), ...rest } = asked;
  return verdict(await api.send(spec.method, path, rest));
}

describe.each(specs.map((spec) => [`${spec.method} ${templateOf(spec.path)}`, spec] as const))(
  '%s',
  (_, spec) => {
    it('accepts no internal header, no encoding, and at most 1 MiB', async () => {
      expect(await answerTo(spec, { headers: { 'x-auction-peer': 'me' } })).toBe(
        '403 internal_routing_headers_forbidden',
      );
      expect(await answerTo(spec, { raw: '{}', headers: { 'content-encoding': 'gzip' } })).toBe(
        '415 unsupported_media_type',
      );
      expect(await answerTo(spec, { raw: '{}', headers: { 'content-type': 'text/plain' } })).toBe(
        '415 unsupported_media_type',
      );
      expect(await answerTo(spec, { raw: TOO_MUCH })).toBe('413 payload_too_large');
    });

    if (spec.access === 'session') {
      it('is refused without a token', async () => {
        expect(await answerTo(spec, { api: floor.anybody })).toBe('401 unauthorized');
        expect(await answerTo(spec, { api: floor.anybody.as('not.a.token') })).toBe('401 unauthorized');
      });
    }
    if (spec.capability !== undefined || spec.requiredRole !== undefined) {
      it('is forbidden without the capability', async () => {
        expect(await answerTo(spec, { api: members.VIEWER! })).toBe('403 forbidden');
      });
    }
    if (spec.role !== undefined) {
      it('does not exist for other roles', async () => {
        expect(await answerTo(spec, { api: members.MARKET_MAKER! })).toBe('404 not_found');
      });
    }

    const names = Object.keys(spec.ids ?? {});
    if (names.length > 0) {
      it.each(names)('requires a well-formed %s', async (name) => {
        const template = spec.path.replace(`:${name}`, '-');
        const path = pathOf({ ...spec, path: template });
        expect(await answerTo(spec, { path, raw: '{}', headers: KEY })).toBe(
          `400 ${spec.ids?.[name]?.fault ?? ''}`,
        );
      });
    }
    if (spec.query === undefined && canQueryFail(spec, 'refused')) {
      it('has no query parameters', async () => {
        for (const query of ['surprise=1', 'limit=1', '%', '&']) {
          const path = `${pathOf(spec)}?${query}`;
          expect(await answerTo(spec, { path, headers: KEY })).toBe('400 invalid_request');
        }
      });
    }
    if (spec.query !== undefined) {
      it('accepts its query parameters and no others', async () => {
        for (const query of ['surprise=1', 'limit=1&limit=1', 'limit=', 'limit=-1', '%']) {
          expect(await answerTo(spec, { path: `${pathOf(spec)}?${query}` })).toBe(
            `400 ${spec.query?.fault ?? ''}`,
          );
        }
      });
    }

    it('reads its body strictly, or none', async () => {
      const refused = ['{', '[]', 'null', '{"surprise":1}', '{"surprise":null}'];
      for (const raw of refused) expect(await answerTo(spec, { raw, headers: KEY })).toBe('400 invalid_json');
      expect(await answerTo(spec, { raw: '{}{}', headers: KEY })).toBe('400 multiple_json_values');
    });

    if (spec.method === 'GET') {
      it('answers HEAD in the same way, without the body', async () => {
        const api = memberFor(spec);
        const [get, head] = [await api.get(pathOf(spec)), await api.send('HEAD', pathOf(spec))];
        expect([head.status, head.text, Object.keys(head.headers).sort()]).toEqual([
          get.status,
          '',
          Object.keys(get.headers).sort(),
        ]);
      });
    }
  },
);

describe('bytes that are not a request, or arrive too slowly', () => {
  const get = (...headers: string[]): string =>
    `${['GET /healthz HTTP/1.1', 'Host: x', ...headers].join('\r\n')}\r\n\r\n`;
  const many = Array.from({ length: 101 }, (_, at) => `A${at}: 1`);

  it.each([
    ['no HTTP', 'HELLO\r\n\r\n', '400 malformed_request'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', '400 malformed_request'],
    ['two lengths', get('Content-Length: 1', 'Content-Length: 2'), '400 malformed_request'],
    ['a header that is too long', get(`A: ${'a'.repeat(20_000)}`), '431 request_headers_too_large'],
    ['too many headers', get(...many), '431 request_headers_too_large'],
    ['an unknown coding', get('Transfer-Encoding: gzip, chunked'), '501 unsupported_transfer_coding'],
  ])('%s is %#', async (_, bytes, expected) => {
    expect(told(await rawExchange(floor.cluster.gatewayUrl, bytes))).toBe(expected);
  });

  it('has a time limit', async () => {
    const bytes = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{';
    expect(told(await rawExchange(floor.cluster.gatewayUrl, bytes, PATIENCE_MS))).toBe('408 request_timeout');
  });

  it('is checked in the documented order', async () => {
    const received = await rawExchange(
      floor.cluster.gatewayUrl,
      get().repeat(40).replaceAll('healthz', 'readyz'),
    );
    const last = received.slice(received.lastIndexOf('HTTP/1.1 '));
    recordRaw('', last);
    expect(told(last)).toBe('503 too_many_pipelined_requests');
  });

  function told(received: string): string {
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(received)?.[1] ?? '';
    return `${status} ${/"error":"(\w+)"/.exec(received)?.[1] ?? ''}`;
  }
});

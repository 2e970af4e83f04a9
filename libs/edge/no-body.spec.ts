import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { demoEndpoints } from './fixtures/demo-endpoints.js';
import { DemoListener } from './fixtures/demo-listener.js';
import type { RawReply } from './fixtures/raw-client.js';

const MIB = 1_048_576;
let listener: DemoListener;

beforeAll(async () => {
  listener = await DemoListener.start(demoEndpoints());
});
afterAll(async () => {
  await listener.close();
});

interface Content {
  readonly body?: string;
  readonly headers?: readonly string[];
}

function ask(method: string, path: string, { body, headers = [] }: Content): Promise<RawReply> {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: demo',
    'Connection: close',
    'Authorization: Bearer trader',
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
  ];
  return listener.ask(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

describe('an endpoint without a body', () => {
  const CALLS: [string, string, number][] = [
    ['GET', '/v1/auctions', 200],
    ['DELETE', '/v1/session', 204],
    ['GET', '/healthz', 200],
  ];

  it.each(CALLS)(
    '%s %s accepts an empty body or object, and any content type without a body',
    async (method, path, status) => {
      const harmless: Content[] = [
        { body: '' },
        { body: '{}' },
        { body: ' {}\n', headers: ['Content-Type: application/json'] },
        { headers: ['Content-Type: application/json'] },
        { headers: ['Content-Type: application/x-www-form-urlencoded'] },
        { body: '', headers: ['Content-Type: text/plain'] },
      ];
      for (const content of harmless) {
        expect([content, (await ask(method, path, content)).status]).toEqual([content, status]);
      }
    },
  );

  it.each(CALLS)('%s %s refuses a body with content', async (method, path) => {
    const refused: [Content, number, string][] = [
      [{ body: 'not JSON' }, 400, 'invalid_json'],
      [{ body: '[]' }, 400, 'invalid_json'],
      [{ body: '{"price_atoms":1}' }, 400, 'invalid_json'],
      [{ body: '{}{}' }, 400, 'multiple_json_values'],
      [{ body: '{}', headers: ['Content-Type: text/plain'] }, 415, 'unsupported_media_type'],
      [{ headers: ['Content-Encoding: gzip'] }, 415, 'unsupported_media_type'],
      [{ body: ' '.repeat(MIB + 1) }, 413, 'payload_too_large'],
    ];
    for (const [content, status, code] of refused) {
      const reply = await ask(method, path, content);
      expect([content, reply.status, reply.body]).toEqual([content, status, `{"error":"${code}"}`]);
    }
  });

  it('reads a chunked body, and then the next request', async () => {
    const head = 'GET /v1/auctions HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer trader\r\n';
    const client = listener.connect();
    client.send(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
    client.send(`${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`);
    expect((await client.untilClosed()).map(({ status }) => status)).toEqual([200, 400]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { API_VERSION } from '#libs/execution/api/dialect.js';
import { executionDocument } from '#libs/execution/api/documents/http-document.js';
import { executionSpecs } from '#libs/execution/api/documents/interface.js';
import { socketDocument } from '#libs/execution/api/documents/socket-document.js';
import { http, stream } from '../../documents/described-interface.js';
import { sharedFloor, verdict, type TradingFloor } from '../trading-floor.js';

let floor: TradingFloor;

beforeAll(async () => {
  floor = await sharedFloor();
}, 60_000);

afterAll(() => {
  floor.close();
});

function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer<unknown>> {
  return floor.anybody.get(path, headers);
}

describe('the documents', () => {
  it.each([
    ['/openapi.json', http],
    ['/asyncapi.json', stream],
    ['/execution/openapi.json', executionDocument(executionSpecs())],
    ['/execution/asyncapi.json', socketDocument(API_VERSION)],
  ])('%s is served to anyone, exactly as generated from the declarations', async (path, document) => {
    const answer = await get(path);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it.each([
    ...['/openapi.json', '/asyncapi.json', '/docs'],
    ...['/execution/openapi.json', '/execution/asyncapi.json', '/execution/docs'],
  ])('%s is not sent again while it is unchanged', async (path) => {
    const first = await get(path);
    const tag = first.headers.etag ?? '';
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect(first.headers['cache-control']).toBe('public, max-age=300');
    for (const named of [tag, `W/${tag}`, `"another", ${tag}`, '*']) {
      const again = await get(path, { 'if-none-match': named });
      expect([again.status, again.text, again.headers.etag, again.headers['content-length']]).toEqual([
        304,
        '',
        tag,
        undefined,
      ]);
    }
    const other = await get(path, { 'if-none-match': '"another"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
    const head = await floor.anybody.send('HEAD', path);
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      first.headers['content-length'],
    ]);
  });

  it('cannot be changed by any caller', async () => {
    expect(verdict(await floor.anybody.send('POST', '/openapi.json', { body: {} }))).toBe(
      '405 method_not_allowed',
    );
    expect(verdict(await get('/docs/'))).toBe('404 not_found');
  });
});

describe('the page', () => {
  it('may show itself and do nothing else', async () => {
    const { headers, text } = await get('/docs');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}';/,
    );
    expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual([
      'nosniff',
      'no-referrer',
    ]);
    expect(text).toContain('POST /v1/auctions'.slice(5));
  });
});

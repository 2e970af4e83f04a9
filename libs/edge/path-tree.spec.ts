import { describe, expect, it } from '@jest/globals';
import { bind, type EndpointSpec } from './endpoint.js';
import { PathTree } from './path-tree.js';
import { splitTarget } from './exchange/target.js';

function tree(...paths: [EndpointSpec['method'], string][]): PathTree {
  const result = new PathTree();
  for (const [method, path] of paths) {
    result.add(
      bind({ operationId: `${method} ${path}`, method, path, access: 'public' }, () => ({ status: 204 })),
    );
  }
  return result;
}

const paths = tree(
  ['GET', '/healthz'],
  ['GET', '/v1/auctions'],
  ['POST', '/v1/auctions'],
  ['POST', '/v1/auctions/preflight'],
  ['GET', '/v1/auctions/:auctionID'],
  ['POST', '/v1/auctions/:auctionID/quotes/:quoteID/revise'],
);

describe('paths', () => {
  it('prefer literals to names, and capture the segments of names', () => {
    expect([...(paths.find('/v1/auctions')?.endpoints.keys() ?? [])]).toEqual(['GET', 'POST']);
    expect(paths.find('/v1/auctions/preflight')?.endpoints.has('POST')).toBe(true);
    expect(paths.find('/v1/auctions/7')?.captured).toEqual(['7']);
    expect(paths.find('/v1/auctions/7/quotes/8/revise')?.captured).toEqual(['7', '8']);
    expect(paths.find('/v1/auctions/%37')?.captured).toEqual(['%37']);
  });

  it.each([
    '',
    '/',
    '*',
    'healthz',
    '/healthz/',
    '//healthz',
    '/Healthz',
    '/%68ealthz',
    '/healthz;x',
    '/v1',
    '/v1/auctions/',
    '/v1//auctions',
    '/v1/./auctions',
    '/v1/x/../auctions',
    '/v1/auctions//quotes/8/revise',
    '/v1/auctions/7/quotes',
    '/v1/auctions/7/quotes/8',
    '/v1/auctions/7%2Fquotes/8/revise',
    '/v1/auctions/__proto__/constructor',
  ])('%j matches none of them', (path) => {
    expect(paths.find(path)).toBeUndefined();
  });

  it('refuse two endpoints with one method and path', () => {
    expect(() => tree(['GET', '/a/:x'], ['GET', '/a/:y'])).toThrow('two endpoints');
  });
});

describe('a request target', () => {
  it.each([
    ['/a', '/a', ''],
    ['/a?b=c?d', '/a', 'b=c?d'],
    ['/a?', '/a', ''],
    ['http://host/a?b', '/a', 'b'],
    ['HTTPS://user@host:1/a', '/a', ''],
    ['http://host', '/', ''],
    ['http://host?b=/c', '/', 'b=/c'],
    ['*', '*', ''],
    ['//host/a', '//host/a', ''],
  ])('%s is path %s and query %j', (url, path, query) => {
    expect(splitTarget(url)).toEqual({ path, query });
  });
});

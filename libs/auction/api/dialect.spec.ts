import { expect, it } from '@jest/globals';
import { FAULT_KINDS } from '#libs/edge/dialect/fault.js';
import { payloadOf } from '#libs/edge/reply/reply.js';
import { AUCTION_DIALECT } from './refusals.js';

it('the checks run in the order of the contract', () => {
  expect(AUCTION_DIALECT.checks.map(({ name }) => name)).toEqual([
    ...['internal headers', 'header count', 'framing', 'route', 'credentials', 'path', 'method'],
    ...['visibility', 'permission', 'content type', 'size', 'ids', 'query', 'body', 'idempotency key'],
  ]);
});

it('every fault is answered in the flat envelope', () => {
  const written = FAULT_KINDS.map((kind) => {
    const reply = AUCTION_DIALECT.refuse({ kind });
    return `${String(reply.status)} ${payloadOf(reply) ?? ''}`;
  });
  expect(written).toEqual([
    '400 {"error":"malformed_request"}',
    '501 {"error":"unsupported_transfer_coding"}',
    '431 {"error":"request_headers_too_large"}',
    '408 {"error":"request_timeout"}',
    '503 {"error":"too_many_pipelined_requests"}',
    '403 {"error":"internal_routing_headers_forbidden"}',
    '401 {"error":"unauthorized"}',
    '404 {"error":"not_found"}',
    '405 {"error":"method_not_allowed"}',
    '403 {"error":"forbidden"}',
    '429 {"error":"rate_limited"}',
    '415 {"error":"unsupported_media_type"}',
    '413 {"error":"payload_too_large"}',
    '400 {"error":"invalid_id"}',
    '400 {"error":"invalid_request"}',
    '400 {"error":"invalid_json"}',
    '400 {"error":"multiple_json_values"}',
    '400 {"error":"invalid_json"}',
    '400 {"error":"idempotency_key_required"}',
    '400 {"error":"idempotency_key_mismatch"}',
    '426 {"error":"upgrade_required"}',
    '503 {"error":"owner_routing_unavailable"}',
    '500 {"error":"internal_error"}',
  ]);
});

it('a missing token is answered with the scheme of the token', () => {
  const { headers } = AUCTION_DIALECT.refuse({ kind: 'unauthorized' });
  expect(headers).toEqual({ 'www-authenticate': 'Bearer' });
});

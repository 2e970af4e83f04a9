import { describe, expect, it } from '@jest/globals';
import { presentedIn, type HeaderValues } from './presented.js';

const present = (headers: HeaderValues): unknown => presentedIn({ headers, takesCookie: true });

describe('the credentials of a caller', () => {
  it.each<[string, HeaderValues, object]>([
    ['nothing', {}, { kind: 'nothing' }],
    ['an empty id', { 'x-client-id': '' }, { kind: 'key', client_id: '' }],
    [
      'an id beside a bearer',
      { 'x-client-id': 'a', authorization: 'Bearer b' },
      { kind: 'key', client_id: 'a' },
    ],
    ['a key without an id', { 'x-api-key': 'a' }, { kind: 'parts' }],
    ['an empty secret without an id', { 'x-api-secret': '' }, { kind: 'parts' }],
    [
      'a key beside a bearer',
      { 'x-api-key': 'a', authorization: 'bearer b.c' },
      { kind: 'token', token: 'b.c' },
    ],
    ['a bearer with a space', { authorization: 'Bearer a b' }, { kind: 'token', token: undefined }],
    ['a bearer without anything', { authorization: 'Bearer' }, { kind: 'token', token: undefined }],
    ['another scheme', { authorization: 'Basic abc' }, { kind: 'nothing' }],
    ['a scheme that begins with the same letters', { authorization: 'Bearerx abc' }, { kind: 'nothing' }],
    ['a cookie among others', { cookie: 'a=1; custody_session_jwt=t; b' }, { kind: 'token', token: 't' }],
    [
      'a bad bearer beside a cookie',
      { authorization: 'Bearer ,', cookie: 'custody_session_jwt=t' },
      { kind: 'token' },
    ],
    ['an empty cookie', { cookie: 'custody_session_jwt=' }, { kind: 'nothing' }],
    ['a cookie of a longer name', { cookie: 'xcustody_session_jwt=t' }, { kind: 'nothing' }],
  ])('%s', (_what, headers, expected) => {
    expect(present(headers)).toMatchObject(expected);
  });
});

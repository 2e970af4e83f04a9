import { expect, it } from '@jest/globals';
import { asDatabaseFault } from './database-fault.js';
import { UnreadableNumber } from './postgres.js';

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

it.each([
  [coded('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:5432'), 69, 'connect ECONNREFUSED 10.0.0.1:5432'],
  [coded('ENOTFOUND', 'getaddrinfo ENOTFOUND postgres'), 69, 'getaddrinfo ENOTFOUND postgres'],
  [new Error('timeout exceeded when trying to connect'), 69, 'timeout exceeded when trying to connect'],
  [
    Object.assign(new AggregateError([coded('E', 'one'), coded('E', 'other')], ''), { code: 'ECONNREFUSED' }),
    69,
    'one, other',
  ],
  [
    coded('28P01', 'password authentication failed'),
    78,
    'refuses DATABASE_URL: password authentication failed',
  ],
  [coded('53100', 'could not extend file "base/5/1259": No space left on device'), 69, 'No space left on'],
  [coded('53300', 'sorry, too many clients already'), 69, 'too many clients'],
  [coded('58030', 'could not read file "pg_wal/0": Input/output error'), 69, 'Input/output error'],
  [new UnreadableNumber('int8 9223372036854775807 does not fit a JS number'), 65, 'int8 9223372036854775807'],
  [
    coded('ERR_STRING_TOO_LONG', 'Cannot create a string longer than 0x1fffffe8 characters'),
    65,
    'longer than',
  ],
  [
    coded('XX000', 'invalid memory alloc request size 1200000003'),
    65,
    'cannot be read: invalid memory alloc',
  ],
  [coded('54000', 'array size exceeds the maximum allowed'), 65, 'cannot be read: array size'],
  [coded('3D000', 'database "x" does not exist'), 78, 'refuses DATABASE_URL: database "x" does not exist'],
])('%s is a fault that an operator can repair', (error, code, message) => {
  const fault = asDatabaseFault(error);
  expect([fault?.exitCode, fault?.message]).toEqual([code, expect.stringContaining(message)]);
});

it('a full disk is not reported as a bug', () => {
  expect(asDatabaseFault(coded('53100', 'No space left on device'), 70)?.exitCode).toBe(69);
  expect(asDatabaseFault(coded('ECONNREFUSED', 'away'), 70)?.exitCode).toBe(70);
});

it.each([new Error('a bug'), coded('42501', 'permission denied'), coded('EACCES', 'no'), undefined])(
  '%s is not such a fault',
  (error) => {
    expect(asDatabaseFault(error)).toBeUndefined();
  },
);

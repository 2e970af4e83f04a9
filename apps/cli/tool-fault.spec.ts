import { expect, it } from '@jest/globals';
import { JournalCorrupt, JournalUnavailable, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { asToolFault } from './tool-fault.js';

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

it.each<[Error, number, string]>([
  [new StartFault('no cluster runs', 78), 78, 'no cluster runs'],
  [new JournalUnreadable('its brokers are away'), 69, 'its brokers are away'],
  [new JournalUnavailable(0, 'its brokers are away'), 69, 'journal of shard 0: its brokers are away'],
  [coded('ECONNREFUSED', 'connection refused'), 69, 'the database cannot be reached: connection refused'],
  [coded('28P01', 'no such login'), 78, 'the database refuses DATABASE_URL: no such login'],
  [coded('3D000', 'no such database'), 78, 'the database refuses DATABASE_URL: no such database'],
  [coded('42P01', 'no such table'), 78, 'not one of this release (no such table): run the migration'],
  [coded('42501', 'permission denied'), 78, 'the role of DATABASE_URL may not do this: permission denied'],
  [
    new JournalCorrupt(1, 4, 'it is missing'),
    65,
    'journal of shard 1 is corrupt at sequence 4: it is missing',
  ],
])('the message says what an operator can do about %s', (error, exitCode, expected) => {
  expect(asToolFault(error)).toMatchObject({ exitCode, message: expect.stringContaining(expected) });
});

it.each([new Error('a bug'), coded('42601', 'a syntax error'), undefined])('%s is a bug', (error) => {
  expect(asToolFault(error)).toBeUndefined();
});

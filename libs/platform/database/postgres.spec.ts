import { describe, expect, it } from '@jest/globals';
import { isConnectionFailure, isUnanswered } from './postgres.js';

function refusal(code: string): Error {
  return Object.assign(new Error('of the server'), { code });
}

const NO_ROOM = ['53000', '53100', '53200', '53300', '53400', '58030'];
const ENDED = ['57P01', '57P02', '57P03', '57P04', '57P05', '08006'];

describe('a fault counts as an outage of the database', () => {
  it.each([...NO_ROOM, ...ENDED, '57014'])('with code %s', (code) => {
    expect(isUnanswered(refusal(code))).toBe(true);
  });

  it.each(['42501', '23505', '40001', '55P03', '22P02', 'XX000'])('but not with code %s', (code) => {
    expect(isUnanswered(refusal(code))).toBe(false);
  });
});

it('a lack of resources is no connection failure; the end of a session is one', () => {
  const mayHave = [...NO_ROOM, ...ENDED].filter((code) => isConnectionFailure(refusal(code)));
  expect(mayHave).toEqual(['53300', ...ENDED]);
});

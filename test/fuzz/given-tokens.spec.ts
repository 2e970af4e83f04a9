import { expect, it } from '@jest/globals';
import { grantedWithout, showsGivenToken } from './given-tokens.js';

const tokens = new Map([
  ['maker-1', 'a.b.c'],
  ['maker-2', 'd.e.f'],
]);
const resume = { token: Buffer.from('sealed').toString('base64url'), owner: 'maker-1' };

it('is recognised exactly, and in base64 on a stream', () => {
  const shows = (name: string, value: string): boolean =>
    showsGivenToken({ headers: [[name, value]] }, tokens);
  expect(shows('Authorization', 'Bearer a.b.c')).toBe(true);
  expect(shows('Authorization', 'Bearer a.b.cc')).toBe(false);
  expect(shows('X-Other', 'a.b.c')).toBe(false);
  expect(
    shows('Sec-WebSocket-Protocol', `authorization, Bearer.${Buffer.from('a.b.c').toString('base64url')}`),
  ).toBe(true);
});

it("must not be granted on another account's objects", () => {
  const granted = (member: string, said: object, heard: object): string[] => {
    const frame = { form: 'text', bytes: Buffer.from(JSON.stringify(said)) } as const;
    const talk = { said: [frame], heard: [JSON.stringify(heard)], code: undefined, millis: 0 };
    return grantedWithout(talk, member, { tokens, resume });
  };
  const ack = { type: 'ack', cmd_id: 'c' };
  const refresh = { type: 'auth.refresh', cmd_id: 'c' };
  expect(granted('maker-1', { ...refresh, token: 'a.b.c' }, ack)).toEqual([]);
  expect(granted('maker-1', { ...refresh, token: 'd.e.f' }, ack)).toHaveLength(1);
  expect(granted('maker-1', { ...refresh, token: 'd.e.f' }, { ...ack, type: 'reject' })).toEqual([]);
  expect(granted('maker-1', { type: 'quote.withdraw', cmd_id: 'c' }, ack)).toEqual([]);
  expect(granted('maker-2', { type: 'quote.withdraw', cmd_id: 'c' }, ack)).toHaveLength(1);
  const hello = { type: 'hello', cmd_id: 'h', resume_token: resume.token };
  const welcome = { type: 'welcome', cmd_id: 'h', resumed: true };
  expect(granted('maker-1', hello, welcome)).toEqual([]);
  expect(granted('maker-2', hello, welcome)).toEqual(['a stream is resumed by a token that is not its own']);
});

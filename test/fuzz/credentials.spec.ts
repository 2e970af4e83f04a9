import { describe, expect, it } from '@jest/globals';
import { grantedWithout, showsGivenToken, type Credentials } from './credentials.js';
import type { Frame, Talk } from './stream-talk.js';

const TOKEN = 'e30.e30.c2lnbmVk';
const RESUME = Buffer.from('sealed').toString('base64url');
const GIVEN: Credentials = {
  tokens: new Map([['maker-1', TOKEN]]),
  resumeToken: RESUME,
  resumer: 'maker-1',
};

describe('a token that somebody was given', () => {
  const isShown = (name: string, value: string): boolean =>
    showsGivenToken({ headers: [[name, value]] }, GIVEN);

  it.each([
    ['Authorization', `Bearer ${TOKEN}`],
    ['authorization', `bearer  ${TOKEN},x`],
    ['Sec-WebSocket-Protocol', `authorization, Bearer.${TOKEN}`],
    ['Sec-WebSocket-Protocol', `authorization, Bearer.${Buffer.from(TOKEN).toString('base64url')}`],
  ])('is seen in %s: %s', (name, value) => {
    expect(isShown(name, value)).toBe(true);
  });

  it.each([
    ['Authorization', `Bearer ${TOKEN}A`],
    ['Authorization', 'Bearer e30.e30.'],
    ['Authorization', 'Bearer'],
    ['X-Token', `Bearer ${TOKEN}`],
    ['Sec-WebSocket-Protocol', 'authorization, Bearer.x'],
  ])('is not what stands in %s: %s', (name, value) => {
    expect(isShown(name, value)).toBe(false);
  });
});

describe('what a stream is granted', () => {
  function told(said: readonly object[], heard: readonly object[], member = 'maker-1'): string[] {
    const frames = said.map((one): Frame => ({ form: 'text', bytes: Buffer.from(JSON.stringify(one)) }));
    const talk: Talk = {
      said: frames,
      heard: heard.map((one) => JSON.stringify(one)),
      code: undefined,
      millis: 1,
      settledMillis: 1,
    };
    return grantedWithout(talk, member, GIVEN);
  }
  const refresh = (token: unknown): object => ({ type: 'auth.refresh', cmd_id: 'c1', token });
  const ack = { type: 'ack', cmd_id: 'c1' };
  const hello = (token?: string): object => ({ type: 'hello', cmd_id: 'h', resume_token: token });
  const resumed = { type: 'welcome', cmd_id: 'h', resumed: true };

  it('may be what it was given a token for', () => {
    expect(told([hello(RESUME), refresh(TOKEN)], [resumed, ack])).toEqual([]);
    expect(
      told(
        [hello(`${RESUME}x`), refresh('x')],
        [
          { ...resumed, resumed: false },
          { type: 'reject', cmd_id: 'c1' },
        ],
      ),
    ).toEqual([]);
  });

  it('may not follow from a token that nobody was given', () => {
    expect(told([hello(), refresh(`${TOKEN}A`)], [ack])).toEqual([
      'auth.refresh with a token that its account was not given is granted',
    ]);
  });

  it('may not follow from a token of somebody else', () => {
    expect(told([hello(), refresh(TOKEN)], [ack], 'maker-2')).toEqual([
      'auth.refresh with a token that its account was not given is granted',
    ]);
  });

  it('may not be to do what only others may', () => {
    const withdraw = { type: 'quote.withdraw', cmd_id: 'c1' };
    expect(told([hello(), withdraw], [ack])).toEqual([]);
    expect(told([hello(), withdraw], [ack], 'maker-2')).toEqual([
      "quote.withdraw of somebody else's is granted",
    ]);
  });

  it.each([
    ['that is spoilt', `${RESUME}AA`, 'maker-1'],
    ['that is somebody else’s', RESUME, 'maker-2'],
    ['that is not there', undefined, 'maker-1'],
  ])('may not be to go on by a token %s', (_, token, member) => {
    expect(told([hello(token)], [resumed], member)).toEqual([
      'a stream is resumed by a token that is not its own',
    ]);
  });
});

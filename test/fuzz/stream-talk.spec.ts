import { describe, expect, it } from '@jest/globals';
import { muteIn, reachedIn, refusalsIn, type Frame } from './stream-talk.js';

const frame = (text: string): Frame => ({ form: 'text', bytes: Buffer.from(text) });
const command = (type: string, id: string): Frame => frame(JSON.stringify({ type, cmd_id: id }));
const talkOf = (said: readonly Frame[], replies: readonly (readonly [string, string])[]) => ({
  said,
  heard: replies.map(([type, id]) => JSON.stringify({ type, cmd_id: id })),
  code: undefined,
  millis: 0,
  settledMillis: 0,
});
const told = (said: readonly Frame[], ...replies: readonly (readonly [string, string])[]) =>
  refusalsIn(talkOf(said, replies));

describe('a talk', () => {
  const [submit, withdraw] = [command('quote.submit', 'a'), command('quote.withdraw', 'b')];

  it('is refused where no command of it is done', () => {
    expect(told([submit, frame('{')], ['reject', 'a'])).toEqual({
      refused: [submit],
      silent: [frame('{')],
      isRefused: true,
    });
  });

  it('is not where one of them is', () => {
    const replies = [
      ['reject', 'a'],
      ['ack', 'b'],
    ] as const;
    expect(told([submit, withdraw], ...replies)).toEqual({ refused: [submit], silent: [], isRefused: false });
  });

  it('is in doubt where one has no answer', () => {
    const silent = [withdraw];
    expect(told([submit, withdraw], ['reject', 'a'])).toEqual({
      refused: [submit],
      silent,
      isRefused: false,
    });
  });

  it('of one frame is refused unless that is said to be done', () => {
    const hello = command('hello', 'h');
    expect(told([hello, withdraw])).toEqual({ refused: [], silent: [withdraw], isRefused: true });
    expect(told([hello, withdraw], ['ack', 'b'])).toMatchObject({ isRefused: false });
  });

  it('is in doubt where a frame behind it may have ended the stream before it was answered', () => {
    const hello = command('hello', 'h');
    for (const last of [frame('{"type":"hello","cmd_id":"c1"} x'), command('hello', 'again')])
      expect(told([hello, withdraw, last], ['welcome', 'h'])).toMatchObject({ isRefused: false });
  });

  it('owes an answer to what has a name, as long as it goes on', () => {
    const said = [
      submit,
      frame('{"cmd_id":"c1"}'),
      frame('{"cmd_id":""}'),
      frame('{"type":"ping"}'),
      frame('['),
    ];
    const talk = talkOf(said, [['reject', 'a']]);
    expect(muteIn(talk)).toEqual([frame('{"cmd_id":"c1"}')]);
    expect(muteIn({ ...talk, code: 4400 })).toEqual([]);
  });

  it('owes an answer to a name of any script, and knows it by that', () => {
    for (const name of ['𝕊', 'é', 'a"b', '\\']) {
      const said = [command('quote.withdraw', name)];
      expect(muteIn(talkOf(said, []))).toEqual(said);
      expect(muteIn(talkOf(said, [['reject', name]]))).toEqual([]);
      expect(told(said, ['reject', name])).toEqual({ refused: said, silent: [], isRefused: true });
    }
  });

  it('has reached what is answered otherwise than by a refusal', () => {
    const said = [submit, withdraw, command('ping', 'p'), frame('{')];
    const replies = [
      ['reject', 'a'],
      ['ack', 'b'],
      ['pong', 'p'],
      ['heartbeat', 'x'],
    ] as const;
    expect(reachedIn(talkOf(said, replies))).toEqual(['quote.withdraw', 'ping']);
  });

  it('changes nothing by a preflight, or by what is no command', () => {
    const said = [command('quote.preflight', 'p'), command('ping', 'q')];
    expect(told(said, ['ack', 'p'])).toEqual({
      refused: [],
      silent: [command('ping', 'q')],
      isRefused: true,
    });
  });
});

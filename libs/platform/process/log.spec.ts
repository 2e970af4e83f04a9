import { describe, expect, it } from '@jest/globals';
import { createLogger, forRequest, type Logger } from './log.js';

function capture(): { log: Logger; lines: () => Record<string, unknown>[] } {
  const written: string[] = [];
  const log = createLogger({
    name: 'owner-0',
    level: 'info',
    destination: { write: (line) => void written.push(line) },
  });
  return { log, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('a log line', () => {
  it('is one JSON object with name, time, level and the request id of its logger', () => {
    const { log, lines } = capture();
    forRequest(log, 'req-1').info({ auction_id: 'a' }, 'opened');
    expect(lines()).toEqual([
      expect.objectContaining({
        level: 'info',
        name: 'owner-0',
        request_id: 'req-1',
        auction_id: 'a',
        msg: 'opened',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
      }),
    ]);
  });

  it('has the messages of an error and its causes without repetition', () => {
    const { log, lines } = capture();
    const cause = new Error('no route', { cause: new Error('cable cut') });
    log.warn({ err: new Error('cannot be read: no route', { cause }) }, 'x');
    log.warn({ err: new Error('no answer', { cause }) }, 'x');
    expect(lines().map(({ err }) => (err as Error).message)).toEqual([
      'cannot be read: no route: cable cut',
      'no answer: no route: cable cut',
    ]);
  });

  it('below the configured level is not written', () => {
    const { log, lines } = capture();
    log.debug('x');
    expect(lines()).toEqual([]);
  });
});

describe('secrets', () => {
  const names = [
    'authorization',
    'Authorization',
    'password',
    'access_token',
    'X-Service-Token',
    'cookie',
    'set-cookie',
  ];
  it.each([...names, 'client_secret', 'apiKey', 'private_key'])('%s is hidden at every depth', (name) => {
    const { log, lines } = capture();
    log.info({ [name]: 'hunter2', request: { headers: [{ [name]: 'hunter2' }] } }, 'x');
    log.child({ [name]: 'hunter2' }).warn('y');
    expect(JSON.stringify(lines())).not.toContain('hunter2');
  });

  it('in URLs are hidden, also within errors', () => {
    const { log, lines } = capture();
    log.error(
      { url: 'postgres://sotto:hunter2@127.0.0.1/x', err: new Error('cannot reach postgres://a:hunter2@h') },
      'x',
    );
    const text = JSON.stringify(lines());
    expect(text).not.toContain('hunter2');
    expect(text).toContain('127.0.0.1/x');
    expect(text).toContain('cannot reach');
  });

  it('do not include outcome tokens, which are logged', () => {
    const { log, lines } = capture();
    log.info({ outcome_tokens: 5 }, 'x');
    expect(lines()[0]).toMatchObject({ outcome_tokens: 5 });
  });
});

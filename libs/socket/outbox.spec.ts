import { describe, expect, it } from '@jest/globals';
import { settled } from './fixtures/stepped-clock.js';
import { TestSocket } from './fixtures/test-socket.js';
import { Outbox, type OutboxLimits } from './outbox.js';

const MANY = { bufferedMessages: 100, bufferedBytes: 1_000_000 };

function raise(error: unknown): never {
  throw error;
}

interface OutboxOptions {
  readonly limits: OutboxLimits;
  readonly onOverflow: () => void;
  readonly onFault: (error: unknown) => void;
}

function opened({
  limits = MANY,
  onOverflow = (): void => undefined,
  onFault = raise,
}: Partial<OutboxOptions> = {}): {
  readonly outbox: Outbox<string>;
  readonly socket: TestSocket;
} {
  const socket = new TestSocket(true);
  return { socket, outbox: new Outbox<string>(socket, limits, onOverflow, onFault) };
}

function readAll(socket: TestSocket): string[] {
  const read: string[] = [];
  for (let text = socket.read(); text !== undefined; text = socket.read()) read.push(text);
  return read;
}

describe('an outbox', () => {
  it('sends everything in the order in which it was sent', () => {
    const { outbox, socket } = opened();
    outbox.send('1');
    outbox.sendEvent('mia', 'auction', '2');
    outbox.sendState({ size: 0, render: () => '3' });
    outbox.sendState('4');
    outbox.send({ size: 0, render: () => '5' });
    expect(socket.waiting).toHaveLength(1);
    expect(readAll(socket)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('hands the socket frames up to its limit, and the rest as the reader reads', () => {
    const socket = new TestSocket();
    const outbox = new Outbox<string>(
      socket,
      { bufferedMessages: 1_000, bufferedBytes: 1e9 },
      () => undefined,
      raise,
    );
    for (let sent = 0; sent < 300; sent += 1) outbox.send('x'.repeat(1_000));
    expect(socket.waiting.length).toBeGreaterThan(60);
    expect(socket.waiting.length).toBeLessThan(70);
    expect(readAll(socket)).toHaveLength(300);
  });

  it('reports a part that cannot be rendered to its callback, not to the socket', () => {
    const faults: unknown[] = [];
    const { outbox, socket } = opened({ onFault: (error) => faults.push(error) });
    outbox.send('first');
    const broken = new Error('broken');
    outbox.sendState({ size: 10, render: () => raise(broken) });
    expect(readAll(socket)).toEqual(['first']);
    expect(faults).toEqual([broken]);
  });

  it('renders large parts only when their turn comes', () => {
    const { outbox, socket } = opened();
    let rendered = 0;
    outbox.send('first');
    const render = (): string => {
      rendered += 1;
      return 'large';
    };
    outbox.sendState({ size: 10, render });
    expect(rendered).toBe(0);
    expect(readAll(socket)).toEqual(['first', 'large']);
    expect(rendered).toBe(1);
  });

  it.each([
    ['messages', { bufferedMessages: 3, bufferedBytes: 1_000 }, 'x', 4],
    ['bytes', { bufferedMessages: 1_000, bufferedBytes: 30 }, 'x'.repeat(10), 4],
  ])('reports that too many %s wait', (_, limits, text, allowed) => {
    let overflows = 0;
    const { outbox } = opened({ limits, onOverflow: () => (overflows += 1) });
    // One more than the limit: the first is in the socket.
    for (let sent = 0; sent < allowed; sent += 1) outbox.sendEvent('mia', 'auction', text);
    expect([overflows, outbox.isOverfull]).toEqual([0, false]);
    outbox.sendEvent('mia', 'auction', text);
    expect([overflows, outbox.isOverfull]).toEqual([1, true]);
  });

  it('drops all but replies, counts the events of each addressee, and returns their subjects', () => {
    const { outbox, socket } = opened();
    outbox.send('in the socket');
    outbox.sendEvent('mia', 'first', 'a');
    outbox.send('answer 1');
    outbox.sendState('snapshot');
    outbox.sendEvent('max', 'second', 'b');
    outbox.sendState('heartbeat');
    outbox.sendEvent('mia', 'first', 'c');
    outbox.send('answer 2');
    expect(outbox.drop()).toEqual({
      events: new Map([
        ['mia', 2],
        ['max', 1],
      ]),
      subjects: new Set(['first', 'second']),
    });
    outbox.sendEvent('mia', 'auction', 'again');
    expect(readAll(socket)).toEqual(['in the socket', 'answer 1', 'answer 2', 'again']);
    expect(outbox.drop()).toEqual({ events: new Map(), subjects: new Set() });
  });

  it('frees the room of dropped parts', () => {
    const { outbox } = opened({ limits: { bufferedMessages: 3, bufferedBytes: 30 } });
    outbox.send('x');
    for (let sent = 0; sent < 2; sent += 1) outbox.sendEvent('mia', 'auction', 'x'.repeat(10));
    outbox.sendState({ size: 11, render: () => '' });
    expect(outbox.isOverfull).toBe(true);
    outbox.drop();
    expect([outbox.isOverfull, outbox.hasRoom]).toEqual([false, true]);
  });

  it('sends nothing while it is paused, and everything in order afterwards', () => {
    const { outbox, socket } = opened();
    outbox.hold(true);
    outbox.send('1');
    outbox.sendEvent('mia', 'auction', '2');
    expect(outbox.isHeld).toBe(true);
    expect(socket.waiting).toEqual([]);
    outbox.hold(false);
    outbox.send('3');
    expect(readAll(socket)).toEqual(['1', '2', '3']);
  });

  it('neither reorders nor nests the sends that a send triggers', () => {
    // A closed socket calls back at once, in the middle of the send.
    const socket = new TestSocket(true);
    socket.closedWith = 1006;
    const outbox = new Outbox<string>(
      socket,
      { bufferedMessages: 50_000, bufferedBytes: 1e9 },
      () => undefined,
      raise,
    );
    outbox.hold(true);
    const order: number[] = [];
    for (let sent = 0; sent < 20_000; sent += 1) {
      const render = (): string => {
        order.push(sent);
        return 'x'.repeat(70_000);
      };
      outbox.send({ size: 0, render });
    }
    outbox.hold(false);
    expect(order).toEqual(Array.from({ length: 20_000 }, (_, index) => index));
  });

  it('resolves all waiting senders once at most a quarter is used, and never in the middle of a send', async () => {
    const { outbox, socket } = opened({ limits: { bufferedMessages: 8, bufferedBytes: 1_000 } });
    for (let sent = 0; sent < 4; sent += 1) outbox.send(String(sent));
    expect(outbox.hasRoom).toBe(false);
    const resolved: string[] = [];
    void outbox.room().then(() => resolved.push('one'));
    void outbox.room().then(() => resolved.push('other'));
    socket.read();
    expect(resolved).toEqual([]);
    await settled();
    expect(resolved).toEqual(['one', 'other']);
    await outbox.room();
  });

  it('discards everything when it is ended', () => {
    const { outbox, socket } = opened();
    outbox.send('1');
    outbox.send('2');
    outbox.end();
    outbox.send('3');
    expect(readAll(socket)).toEqual(['1']);
  });

  it('uncorks the socket even when a send fails', () => {
    const { outbox, socket } = opened();
    expect(() => {
      outbox.together(() => {
        expect(socket.corks).toBe(1);
        throw new Error('no');
      });
    }).toThrow('no');
    expect(socket.corks).toBe(0);
  });
});

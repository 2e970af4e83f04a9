import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  ClientConnection,
  type ConnectionPorts,
  type ConnectionProtocol,
  type EndedBy,
} from './client-connection.js';
import { settled, SteppedClock } from './fixtures/stepped-clock.js';
import { TestSocket } from './fixtures/test-socket.js';
import { CONNECTION_LIMITS } from './slow-reader.js';
import type { ClientSession, SessionHolder, SessionOutcome } from './session-guard.js';

type WeatherConnection = ClientConnection<SessionHolder, string>;

/** All the code that a second service needs. This one sends the weather of a town, and answers requests. */
class Weather implements ConnectionProtocol<string> {
  private isOpen = false;
  private latest = 'sunny';

  constructor(
    private readonly connection: WeatherConnection,
    private readonly answer: (question: string) => Promise<string>,
  ) {}

  receive(frame: string): void {
    if (this.isOpen) {
      const answered = async (): Promise<void> => this.connection.send(await this.answer(frame));
      this.connection.requests.run(answered, () => {
        this.connection.send('failed');
      });
      return;
    }
    this.connection.greet(Promise.resolve({ town: frame }), ({ town }) => {
      this.isOpen = true;
      this.connection.send(`welcome to ${town}`);
    });
  }

  change(weather: string): void {
    this.latest = weather;
    this.connection.outbox.sendEvent('town', 'weather', weather);
  }

  wouldLose(): boolean {
    return false;
  }

  sendStateInstead(dropped: ReadonlyMap<string, number>): void {
    this.connection.outbox.sendState(`${this.latest}, ${dropped.get('town') ?? 0} skipped`);
  }

  beat(): void {
    this.connection.outbox.sendState('still there');
  }

  warnOfExpiry(): void {
    this.connection.send('the session will end');
  }

  goAway(reason: string): void {
    this.connection.send(`go away: ${reason}`);
  }

  end(): void {
    this.isOpen = false;
  }
}

const IN_A_HUNDRED_SECONDS = 1_790_000_100;

let clock: SteppedClock;
let socket: TestSocket;
let weather: Weather;
let connection: WeatherConnection;
let ended: [number, EndedBy][];
let outcome: SessionOutcome<SessionHolder>;
let answer: (question: string) => Promise<string>;

beforeEach(() => {
  clock = new SteppedClock();
  ended = [];
  answer = (question) => Promise.resolve(`${question}? yes`);
  const session: ClientSession<SessionHolder> = {
    principal: { account_id: 'mia' },
    expiresAt: IN_A_HUNDRED_SECONDS,
  };
  outcome = session;
  const ports: ConnectionPorts<SessionHolder> = {
    sessions: { checkOf: () => () => outcome },
    clock,
    limits: { ...CONNECTION_LIMITS, bufferedMessages: 4, requestsInFlight: 2 },
    meter: { closed: (...how) => ended.push(how) },
    onFault: (error) => {
      throw error;
    },
  };
  socket = new TestSocket(true);
  connection = new ClientConnection(ports, socket, { token: 't', session }, (opened: WeatherConnection) => {
    weather = new Weather(opened, (question) => answer(question));
    return weather;
  });
});

/** Reads all unread frames. */
async function read(): Promise<string[]> {
  await settled();
  const texts: string[] = [];
  for (let text = socket.read(); text !== undefined; text = socket.read()) texts.push(text);
  return texts;
}

async function greeted(): Promise<void> {
  connection.onText('Ulm');
  expect(await read()).toEqual(['welcome to Ulm']);
}

/** A client that answers each ping as time passes. */
async function pass(seconds: number): Promise<string[]> {
  for (let passed = 0; passed < seconds; passed += 1) {
    clock.pass(1_000);
    connection.onAlive();
    connection.tick();
  }
  return read();
}

describe('a connection of a second service', () => {
  it('is greeted and gets replies, also to frames sent during the greeting', async () => {
    connection.onText('Ulm');
    connection.onText('rain');
    expect(socket.isPaused).toBe(true);
    expect(await read()).toEqual(['welcome to Ulm', 'rain? yes']);
    expect(socket.isPaused).toBe(false);
  });

  it('is read no faster than it is answered, and gets a reply to a failed request', async () => {
    await greeted();
    const open: ((text: string) => void)[] = [];
    answer = (question) =>
      question === 'snow' ? Promise.reject(new Error('no')) : new Promise((resolve) => open.push(resolve));
    for (const question of ['rain', 'wind', 'snow']) connection.onText(question);
    expect([await read(), socket.isPaused, open.length]).toEqual([[], true, 2]);
    open[1]!('no wind');
    expect([await read(), socket.isPaused]).toEqual([['no wind', 'failed'], false]);
    const drained = connection.drain(1000, 'done');
    connection.onText('hail');
    open[0]!('no rain');
    await drained;
    expect(socket.closedWith).toBe(1000);
    expect(ended).toEqual([[1000, 'gateway']]);
  });

  it('gets the state in place of unread events once, and is closed the second time', async () => {
    await greeted();
    for (let day = 0; day < 6; day += 1) weather.change(`day ${day}`);
    expect(await read()).toEqual(['day 0', 'day 5, 5 skipped']);
    for (let day = 6; day < 12; day += 1) weather.change(`day ${day}`);
    expect(socket.closedWith).toBe(4431);
  });

  it('is closed with 4400 without a hello in ten seconds', () => {
    clock.pass(10_000);
    connection.tick();
    expect(socket.closedWith).toBe(4400);
  });

  it('gets a heartbeat every ten seconds, and is closed after thirty seconds of silence', async () => {
    await greeted();
    expect(await pass(20)).toEqual(['still there', 'still there']);
    clock.pass(30_000);
    connection.tick();
    expect([socket.closedWith, socket.pings]).toEqual([4408, 2]);
  });

  it('is warned before its session ends, gets nothing while the session is unknown, and is closed at its end', async () => {
    await greeted();
    expect(await pass(40)).toContain('the session will end');
    outcome = 'unavailable';
    expect(await pass(1)).toEqual([]);
    weather.change('cloudy');
    expect(await read()).toEqual([]);
    outcome = { principal: { account_id: 'mia' }, expiresAt: IN_A_HUNDRED_SECONDS };
    expect(await pass(1)).toEqual(['cloudy']);
    outcome = 'unauthorized';
    await pass(1);
    expect([socket.closedWith, ended]).toEqual([4401, [[4401, 'gateway']]]);
  });
});

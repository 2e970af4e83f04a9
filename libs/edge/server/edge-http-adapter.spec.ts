import { randomUUID } from 'node:crypto';
import { Agent, get } from 'node:http';
import { type INestApplication, Inject, Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { pause } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { object } from '../decoding/decode.js';
import { atoms } from '../decoding/decode-scalars.js';
import { DEMO_DIALECT } from '../fixtures/demo-listener.js';
import { EdgeHttpAdapter } from './edge-http-adapter.js';
import { EdgeListener } from './edge-listener.js';
import { type CallOf, endpoint } from '../endpoint.js';
import { Endpoint, endpointsOf } from '../endpoint-decorator.js';
import type { Reply } from '../reply/reply.js';

const double = endpoint({
  operationId: 'double',
  method: 'POST',
  path: '/double',
  access: 'public',
  body: object({ required: { of: atoms } }),
});

@Injectable()
class Arithmetic {
  double(value: number): number {
    return 2 * value;
  }
}

@Injectable()
class Doubler {
  constructor(@Inject(Arithmetic) private readonly arithmetic: Arithmetic) {}

  @Endpoint(double)
  async double(call: CallOf<typeof double>): Promise<Reply> {
    return Promise.resolve({ status: 200, body: { is: this.arithmetic.double(call.body.of) } });
  }
}

@Module({ providers: [Arithmetic, Doubler] })
class Demo {}

interface Started {
  readonly url: string;
  readonly listener: EdgeListener;
  readonly app: INestApplication;
}

async function startDemo(): Promise<Started> {
  const listener = new EdgeListener({
    dialect: DEMO_DIALECT,
    authenticator: { authenticate: () => 'unauthorized' },
    clock: new SystemClock(),
    newRequestId: randomUUID,
    onFault: (error) => {
      throw error;
    },
  });
  Logger.overrideLogger(false);
  const app = await NestFactory.create(Demo, new EdgeHttpAdapter([listener]));
  listener.mount([app.get(Doubler)]);
  await app.init();
  await listener.listen(0, '127.0.0.1');
  const address = listener.server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return { url: `http://127.0.0.1:${address.port}`, listener, app };
}

describe('the adapter for Nest', () => {
  it('serves the endpoints of injectables, without Express', async () => {
    const { url, app } = await startDemo();
    try {
      const doubled = await fetch(`${url}/double`, {
        method: 'POST',
        body: '{"of":21}',
        headers: { 'content-type': 'application/json' },
      });
      expect([doubled.status, await doubled.json()]).toEqual([200, { is: 42 }]);
      expect(doubled.headers.get('x-powered-by')).toBeNull();
      expect(doubled.headers.get('etag')).toBeNull();
      const unknown = await fetch(`${url}/favicon.ico`);
      expect([unknown.status, await unknown.text()]).toEqual([404, '{"error":"not_found"}']);
    } finally {
      await app.close();
    }
  });

  it('stops even if clients keep sending on persistent connections', async () => {
    const { url, listener, app } = await startDemo();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connectionHeaders: (string | undefined)[] = [];
    const requests = (async () => {
      for (;;) {
        const answer = await ask(`${url}/nothing`, agent).catch(() => undefined);
        if (answer === undefined) return;
        connectionHeaders.push(answer);
      }
    })();
    await pause(new SystemClock(), 50);
    listener.drain();
    await pause(new SystemClock(), 50);
    await app.close();
    await requests;
    agent.destroy();
    expect(connectionHeaders.length).toBeGreaterThan(2);
    expect(connectionHeaders[0]).toBe('keep-alive');
    expect(connectionHeaders.at(-1)).toBe('close');
  });

  it('finds the endpoints of base classes too', () => {
    class Special extends Doubler {}
    expect(endpointsOf([new Special(new Arithmetic())]).map(({ spec }) => spec.operationId)).toEqual([
      'double',
    ]);
  });
});

describe('a declaration', () => {
  it.each([
    ['an undeclared id', { path: '/a/:id' }],
    ['a key without a body', { path: '/a', idempotency: 'required' }],
    ['a capability on a public path', { path: '/a', capability: 'x' }],
  ] as const)('with %s is refused at start', (_what, part) => {
    expect(() => endpoint({ operationId: 'bad', method: 'POST', access: 'public', ...part })).toThrow(
      'bad: ',
    );
  });
});

/** The Connection header of the reply. */
function ask(url: string, agent: Agent): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.headers.connection));
    }).once('error', reject);
  });
}

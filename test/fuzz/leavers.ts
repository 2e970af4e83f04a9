import { connect } from 'node:net';
import type { Random } from '../simulator/kernel/random.js';
import { HostileRequests } from './hostile-requests.js';
import type { Verdict } from './stillness.js';
import type { Target } from './target.js';
import { bytesOf, type WireRequest } from './wire.js';

/** At once, one behind the other: each of them may end a process, and one is enough. */
const AT_ONCE = 6;
const LONGEST_STAY_MS = 6;
const PATIENCE_MS = 1_000;
/** Whoever is gone has not heard what became of what he asked for, so none of them asks for anything to be done. */
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE'];
/** Anything else cannot be read as one. */
const TUNNEL = 'localhost:443';

/** Those who ask and reset the connection: at once, within the answer, or at its first byte. Nothing may come of it. */
export class Leavers {
  count = 0;
  /** What those of them asked who came last. */
  latest = '';
  private readonly requests: HostileRequests;

  constructor(
    private readonly target: Pick<Target, 'ports' | 'http' | 'tokens' | 'known' | 'streamPath'>,
    private readonly random: Random,
  ) {
    this.requests = new HostileRequests(target, random);
  }

  async play(): Promise<Verdict> {
    const { random, target } = this;
    const asked = Array.from({ length: AT_ONCE }, (_, index) => ({
      bytes: bytesOf(this.request()),
      port: target.ports[index % target.ports.length] ?? 0,
      // Undefined is the moment of the first byte that comes back.
      stays: random.chance(0.3) ? undefined : random.between(0, LONGEST_STAY_MS),
    }));
    this.count += asked.length;
    this.latest = asked.map(({ bytes }) => bytes.toString('latin1').slice(0, 300)).join('\n--- reset\n');
    await Promise.all(asked.map(({ port, bytes, stays }) => leave(port, bytes, stays)));
    return 'NOTHING REFUSED';
  }

  private request(): WireRequest {
    const method = this.random.pick(METHODS);
    const { request } = this.requests.draw();
    return { ...request, method, target: method === 'CONNECT' ? TUNNEL : request.target };
  }
}

function leave(port: number, bytes: Buffer, stays: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const timers = [setTimeout(go, PATIENCE_MS)];
    function go(): void {
      socket.resetAndDestroy();
    }
    socket.on('connect', () => {
      socket.write(bytes);
      if (stays === undefined) socket.once('data', go);
      else timers.push(setTimeout(go, stays));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const timer of timers) clearTimeout(timer);
      resolve();
    });
  });
}

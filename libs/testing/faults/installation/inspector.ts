import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

const LOOKS = 100;
const LOOK_EVERY_MS = 100;

interface Target {
  readonly webSocketDebuggerUrl: string;
}

/** Keeps the event loop of a process busy, through the debugger that every Node opens when it is asked to with SIGUSR1. */
export async function blockEventLoop(pid: number, port: number, millis: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const debugger_ = new WebSocket(await addressOf(port), { perMessageDeflate: false });
  debugger_.on('error', () => undefined);
  await once(debugger_, 'open');
  const expression = `{ const end = performance.now() + ${millis}; while (performance.now() < end); }`;
  debugger_.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
  // The answer, or the end of a process that did not survive it.
  await Promise.race([once(debugger_, 'message'), once(debugger_, 'close')]);
  debugger_.terminate();
}

async function addressOf(port: number): Promise<string> {
  for (let look = 0; look < LOOKS; look += 1) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
      const [target] = (await answer.json()) as Target[];
      if (target !== undefined) return target.webSocketDebuggerUrl;
    } catch {
      // It has not opened yet.
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`nobody debugs at ${port}`);
}

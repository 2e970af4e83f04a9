import { setTimeout as sleep } from 'node:timers/promises';
import { NodeInspector } from '#libs/testing/cluster/node-inspector.js';

const LOOKS = 100;
const LOOK_EVERY_MS = 100;

interface Listed {
  readonly webSocketDebuggerUrl: string;
}

/** Keeps a process's event loop busy, through its debugger at this port. */
export async function blockEventLoop(pid: number, port: number, millis: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const inspector = await NodeInspector.open(await addressOf(port));
  await inspector.block(millis);
  inspector.close();
}

async function addressOf(port: number): Promise<string> {
  for (let look = 0; look < LOOKS; look += 1) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
      const [listed] = (await answer.json()) as Listed[];
      if (listed !== undefined) return listed.webSocketDebuggerUrl;
    } catch {
      // The port is not open yet.
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`no debugger listens at ${port}`);
}

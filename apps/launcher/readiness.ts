import { get } from 'node:http';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { hopelessCode, internalUrl, type Children, type PlacedProcess } from './children.js';

const POLL_MS = 50;
const ANSWER_WITHIN_MS = 1_000;
const READY_WITHIN_NANOS = 60_000_000_000n;
/** Endings during the start after which more attempts are not worth waiting for. */
const MANY = 5;

/** Resolves when every process says that it is ready; rejects when one of them plainly never will be. */
export async function allReady(
  children: Children,
  places: readonly PlacedProcess[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonicNanos() + READY_WITHIN_NANOS;
  let missing = [...places];
  while (missing.length > 0) {
    signal.throwIfAborted();
    for (const { plan } of missing) refuseHopeless(children, plan.name);
    if (clock.monotonicNanos() > deadline) {
      const names = missing.map(({ plan }) => plan.name);
      throw new StartFault(
        `not ready after a minute: ${names.join(', ')} (log: ${children.logPath(names[0] ?? '')})`,
      );
    }
    const answers = await Promise.all(
      missing.map((place) => isReady(internalUrl(place) + place.plan.kind.paths.readiness)),
    );
    missing = missing.filter((_, index) => answers[index] !== true);
    if (missing.length > 0) await pause(clock, POLL_MS);
  }
}

function refuseHopeless(children: Children, name: string): void {
  const ending = children.endings.get(name);
  if (ending === undefined) return;
  const { count, how, said } = ending;
  const hopeless = hopelessCode(how);
  if (count < MANY && hopeless === undefined) return;
  const reason = said.length > 0 ? said.join('; ') : 'it gave no reason';
  throw new StartFault(
    `${name} does not start: ${reason} (${how}, log: ${children.logPath(name)})`,
    hopeless ?? EXIT.unavailable,
  );
}

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: ANSWER_WITHIN_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

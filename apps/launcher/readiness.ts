import { z } from 'zod';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { hopelessCode, internalUrl, type Children, type PlacedProcess } from './children.js';

const POLL_MS = 50;
const ANSWER_WITHIN_MS = 1_000;
const READY_WITHIN_NANOS = 60_000_000_000n;
/** So many endings during the start that more attempts are pointless. */
const MAX_ENDINGS = 5;

/** The status of a process that still reads its journal. That is no reason to give up. */
const CATCHING_UP = 'catching_up';

interface ReadyPorts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called from time to time during a slow start. */
  readonly tell: (line: string) => void;
}

/** Resolves when every process is ready. Rejects when one of them cannot become ready. */
export async function allReady(
  children: Children,
  places: readonly PlacedProcess[],
  { clock, signal, tell }: ReadyPorts,
): Promise<void> {
  let deadline = clock.monotonicNanos() + READY_WITHIN_NANOS;
  let missing = [...places];
  while (missing.length > 0) {
    signal.throwIfAborted();
    for (const { plan } of missing) refuseFinalEnding(children, plan.name);
    const answers = await Promise.all(
      missing.map((place) => askReadiness(internalUrl(place) + place.plan.kind.paths.readiness)),
    );
    const catchingUp = missing.filter((_, index) => answers[index] === CATCHING_UP);
    missing = missing.filter((_, index) => answers[index] !== READY);
    if (missing.length === 0) return;
    if (clock.monotonicNanos() > deadline) {
      const names = (all: readonly PlacedProcess[]): string => all.map(({ plan }) => plan.name).join(', ');
      const [first] = missing;
      if (catchingUp.length === 0) {
        throw new StartFault(
          `not ready after a minute: ${names(missing)} (log: ${children.logPath(first?.plan.name ?? '')})`,
        );
      }
      tell(`${names(catchingUp)} still catches up with its journal`);
      deadline += READY_WITHIN_NANOS;
    }
    await pause(clock, POLL_MS);
  }
}

function refuseFinalEnding(children: Children, name: string): void {
  const ending = children.endings.get(name);
  if (ending === undefined) return;
  const { count, how, said } = ending;
  const finalCode = hopelessCode(how);
  if (count < MAX_ENDINGS && finalCode === undefined) return;
  const reason = said.length > 0 ? said.join('; ') : 'it gave no reason';
  throw new StartFault(
    `${name} does not start: ${reason} (${how}, log: ${children.logPath(name)})`,
    finalCode ?? EXIT.unavailable,
  );
}

const READY = 'ready';
const health = z.object({ status: z.string() });

/** The status that the process reports. Undefined if it does not answer. */
async function askReadiness(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const body = await answer.text();
    return answer.ok ? READY : health.parse(JSON.parse(body)).status;
  } catch {
    return undefined;
  }
}

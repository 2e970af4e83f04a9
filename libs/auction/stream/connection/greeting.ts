import { NANOS_PER_MICRO, NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Control } from '../client-messages.js';
import { HistoryStoreAway, type HistoryCatchUp } from '../feed/history-catch-up.js';
import type { ResumePoint } from '../resume-point.js';
import type { StreamPorts } from './stream-ports.js';
import type { ResumeError, ResyncReason } from '../server-messages.js';
import type { ConnectionName } from '../subscriptions/resume-cursor.js';
import { SubscriptionProgress } from '../subscriptions/subscription-progress.js';
import type { Seen } from '../subscriptions/subscription.js';
import type { Broken } from '../subscriptions/resumption.js';

export interface Greeting {
  readonly name: ConnectionName;
  readonly graceMillis: number | undefined;
  /** Absent for a new connection. */
  readonly resumed?: Resumed;
  readonly error?: ResumeError;
}

export interface Resumed {
  readonly point: ResumePoint;
  readonly seen: Seen;
  readonly history: HistoryCatchUp;
  /** The subscriptions that cannot be continued. */
  readonly broken: Broken;
}

/** Starts a connection or resumes one. Undefined if this gateway lags too far to resume it. */
export async function greet(
  hello: Control<'hello'>,
  account: string,
  ports: StreamPorts,
): Promise<Greeting | undefined> {
  const { tokens, clock } = ports;
  const now = clock.epochNanos();
  const graceMillis = hello.cancel_on_disconnect?.grace_ms;
  // If two sockets resume one connection, the one with the higher attachment wins, at whichever gateways they are.
  const attachment = Number(now / NANOS_PER_MICRO);
  const token = hello.resume_token;
  const opened = token === undefined ? undefined : tokens.open(token, account, Number(now / NANOS_PER_MILLI));
  if (opened?.ok !== true) {
    const name = { account, connectionId: ports.newId(), attachment };
    return { name, graceMillis, ...(opened === undefined ? {} : { error: opened.error }) };
  }
  const { point } = opened;
  const seen = hello.seen ?? {};
  const history = ports.histories.of(account);
  const progress = await progressHere(point, seen, history, ports);
  if (progress === undefined) return undefined;
  return {
    name: {
      account,
      connectionId: point.connectionId,
      attachment: Math.max(attachment, point.attachment + 1),
    },
    graceMillis,
    resumed: { point, seen, history, broken: brokenIn(point, progress) },
  };
}

/** Waits a short time until this gateway has read what the earlier one had sent, and reads older history. */
async function progressHere(
  point: ResumePoint,
  seen: Seen,
  history: HistoryCatchUp,
  { feed, limits: { catchUpMillis } }: StreamPorts,
): Promise<SubscriptionProgress | undefined> {
  if (!(await feed.waitUntil(() => feed.hasReached(point.positions), catchUpMillis))) return undefined;
  const progress = new SubscriptionProgress(history, point, seen);
  try {
    // The journals held what the client has seen when it came here, but brokers may report older heads; see
    // Resumption.
    const heads = await feed.heads();
    do {
      await progress.recall();
      if (!(await feed.waitUntil(() => !progress.areComing(heads), catchUpMillis))) return undefined;
    } while (progress.areForgotten());
  } catch (error) {
    if (error instanceof HistoryStoreAway) return undefined;
    throw error;
  }
  return progress;
}

function brokenIn({ subscriptions }: ResumePoint, progress: SubscriptionProgress): Broken {
  const broken = new Map<number, ResyncReason>();
  for (const mark of subscriptions) {
    // A subscription that was being sent earlier entries continues where that stopped.
    if (mark.told !== undefined) continue;
    if (!mark.isComplete) broken.set(mark.number, 'SNAPSHOT_INCOMPLETE');
    else if (!progress.canContinue(mark)) broken.set(mark.number, 'HISTORY_GONE');
  }
  return broken;
}

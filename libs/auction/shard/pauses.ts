import type { Impediment } from '#libs/shard/conditions/conditions.js';
import { fault, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../protocol/protocol.js';
import { UNAVAILABLE } from './auction-task.js';

const PAUSES: Readonly<Record<Impediment, LinkReply>> = {
  DRAINING: UNAVAILABLE,
  CLOCK: fault(503, 'clock_unhealthy'),
  JOURNAL_FULL: fault(503, 'journal_capacity_unhealthy'),
  JOURNAL_ROOM_UNKNOWN: UNAVAILABLE,
  PROJECTION_LAG: fault(503, 'projection_backlog'),
};

interface PauseReasons {
  readonly clock: { isSound(): boolean };
  impediment(): Impediment | undefined;
}

/** The refusal while this owner takes no such command. Withdrawing and cancelling always work. */
export function pauseOf(conditions: PauseReasons, op: OwnerRequest['op']): LinkReply | undefined {
  if (op === 'create') {
    const impediment = conditions.impediment();
    return impediment === undefined ? undefined : PAUSES[impediment];
  }
  const needsClock = op === 'submit' || op === 'revise';
  return needsClock && !conditions.clock.isSound() ? PAUSES.CLOCK : undefined;
}

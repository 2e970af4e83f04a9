import { EXIT } from '#libs/platform/process/start-fault.js';

/** How a process has ended before the cluster was ready. */
export interface Ending {
  readonly count: number;
  readonly how: string;
  /** Its own last words. */
  readonly said: readonly string[];
}

/** Codes with which a process says that starting it again will change nothing. */
const HOPELESS: ReadonlyMap<string, number> = new Map(
  [EXIT.config, EXIT.damaged].map((code) => [`exit code ${code}`, code]),
);

export function hopelessCode(how: string): number | undefined {
  return HOPELESS.get(how);
}

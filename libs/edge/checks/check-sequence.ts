import { orderOf, type Check, type CheckOutcome, type CheckTools, type Inspection } from './check.js';

/** Runs the checks of a dialect, in its order, on requests and handshakes. */
export class CheckSequence {
  private readonly allChecks: readonly Check[];
  private readonly handshakeChecks: readonly Check[];

  constructor(
    checks: readonly Check[],
    private readonly tools: CheckTools,
  ) {
    this.allChecks = orderOf(checks);
    this.handshakeChecks = this.allChecks.filter(({ readsBody }) => readsBody !== true);
  }

  request(inspection: Inspection): Promise<CheckOutcome> {
    return this.run(this.allChecks, inspection);
  }

  /** Runs the checks that do not need a body. */
  handshake(inspection: Inspection): Promise<CheckOutcome> {
    return this.run(this.handshakeChecks, inspection);
  }

  private async run(checks: readonly Check[], inspection: Inspection): Promise<CheckOutcome> {
    for (const check of checks) {
      const outcome = check.run(inspection, this.tools);
      const refused = outcome instanceof Promise ? await outcome : outcome;
      if (refused !== undefined) return refused;
    }
    return undefined;
  }
}

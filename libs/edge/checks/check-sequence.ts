import { orderOf, type Check, type CheckOutcome, type CheckTools, type Inspection } from './check.js';

/** Takes requests through the checks of a dialect, in its order. */
export class CheckSequence {
  private readonly all: readonly Check[];
  private readonly ofHandshake: readonly Check[];

  constructor(
    checks: readonly Check[],
    private readonly tools: CheckTools,
  ) {
    this.all = orderOf(checks);
    this.ofHandshake = this.all.filter(({ readsBody }) => readsBody !== true);
  }

  request(inspection: Inspection): Promise<CheckOutcome> {
    return this.run(this.all, inspection);
  }

  /** Without the checks of a body. */
  handshake(inspection: Inspection): Promise<CheckOutcome> {
    return this.run(this.ofHandshake, inspection);
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

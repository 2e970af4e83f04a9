import type { Random } from '../kernel/random.js';
import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Promised, Promises } from '../oracle/promises.js';
import type { HttpRequest } from '../processes/http-desk.js';
import type { World } from '../processes/world.js';
import type { TwinTranscript } from '../twins/transcript.js';
import type { SimulatedCaller } from './caller.js';
import { nameOf } from './cast.js';

export interface Errand {
  readonly command: Promised;
  readonly request: Omit<HttpRequest, 'id'>;
  readonly caller: SimulatedCaller;
  readonly done?: (status: number, body: string) => void;
}

const RETRY_MILLIS = { least: 50, most: 1_500 };
const MOST_TRIES = 60;

/** Commands in progress: each is repeated with its key until it gets a final answer. */
export class Errands {
  private readonly open = new Set<Errand>();
  tries = 0;

  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly promises: Promises,
    private readonly gateways: readonly string[],
    private readonly transcript: TwinTranscript | undefined,
  ) {}

  get waiting(): number {
    return this.open.size;
  }

  /** `isTwice`: the impatient caller asks another gateway at the same time. */
  run(errand: Errand, isTwice: boolean): void {
    this.open.add(errand);
    this.try(errand, MOST_TRIES);
    if (isTwice) this.try(errand, 1);
  }

  private try(errand: Errand, left: number): void {
    const { command, caller, request } = errand;
    this.tries += 1;
    this.promises.said(command);
    const random = this.random.fork(`${command.account} ${command.key} ${left}`);
    const gateway = random.pick(this.gateways);
    caller.ask(gateway, request, (answer) => {
      const { operation, account, auctionId, key } = command;
      const said =
        answer === undefined ? 'nothing' : `${answer.status} ${answer.status < 300 ? '' : answer.body}`;
      this.world.trace.note(
        `${nameOf(account)}: ${operation} ${key} ${auctionId.slice(0, 8)} at ${gateway}: ${said}`,
      );
      if (answer !== undefined) {
        this.promises.answered(command, answer.status, answer.body);
        this.transcript?.note(account, key, `${answer.status} ${answer.body}`, this.world.scheduler.now);
      }
      if (answer !== undefined && isFinal(answer.status, answer.body)) {
        if (this.open.delete(errand)) errand.done?.(answer.status, answer.body);
        return;
      }
      if (left <= 1 || !this.open.has(errand)) return;
      const wait = random.between(RETRY_MILLIS.least, RETRY_MILLIS.most) * NANOS_PER_MILLI;
      this.world.scheduler.after(wait, undefined, () => this.try(errand, left - 1));
    });
  }
}

/** A withdraw-all that could not reach a shard must be repeated. */
export function isFinal(status: number, body: string): boolean {
  if (status >= 500 || status === 429 || body.includes('"UNAVAILABLE"')) return false;
  return !body.includes('"idempotency_key_in_progress"');
}

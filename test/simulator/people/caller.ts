import type { Host } from '../kernel/host.js';
import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import { httpAddress } from '../processes/gateway.js';
import type { SimulatedHttpAnswer, HttpRequest } from '../processes/http-desk.js';
import type { World } from '../processes/world.js';
import type { WireEnd } from '../wire/wire-end.js';

const PATIENCE_MILLIS = 6_000;

type Callback = (answer: SimulatedHttpAnswer | undefined) => void;

interface Line {
  readonly end: WireEnd;
  readonly waiting: Map<number, Callback>;
  kept: string[];
}

/** An account's HTTP client: a connection to each gateway, kept while it lasts. Undefined means that no answer came. */
export class SimulatedCaller {
  private readonly lines = new Map<string, Line>();
  private lastId = 0;

  constructor(
    private readonly world: World,
    private readonly host: Host,
    readonly account: string,
    /** Called with each request and its answer. */
    private readonly onAnswer: (said: string, told: string) => void,
  ) {}

  ask(gateway: string, request: Omit<HttpRequest, 'id'>, callback: Callback): void {
    this.lastId += 1;
    const id = this.lastId;
    const line = this.lineTo(gateway);
    const text = JSON.stringify({ id, ...request });
    line.waiting.set(id, (answer) => {
      if (answer !== undefined) this.onAnswer(text, answer.body);
      callback(answer);
    });
    if (line.end.state === 'CONNECTING') line.kept.push(text);
    else line.end.send(text);
    this.world.scheduler.after(PATIENCE_MILLIS * NANOS_PER_MILLI, this.host, () => {
      if (line.waiting.delete(id)) callback(undefined);
    });
  }

  private lineTo(gateway: string): Line {
    const known = this.lines.get(gateway);
    if (known !== undefined && known.end.state !== 'CLOSED') return known;
    const end = this.world.network.connect(this.host, httpAddress(gateway), { account: this.account }, false);
    const line: Line = { end, waiting: new Map(), kept: [] };
    this.lines.set(gateway, line);
    end.onOpen = () => {
      for (const text of line.kept.splice(0)) end.send(text);
    };
    end.onText = (text) => {
      const answer = JSON.parse(text) as SimulatedHttpAnswer;
      const callback = line.waiting.get(answer.id);
      line.waiting.delete(answer.id);
      callback?.(answer);
    };
    end.onClose = () => {
      const waiting = [...line.waiting.values()];
      line.waiting.clear();
      for (const callback of waiting) callback(undefined);
    };
    return line;
  }
}

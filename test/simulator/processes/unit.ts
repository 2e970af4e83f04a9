import { Host } from '../kernel/host.js';
import type { Random } from '../kernel/random.js';
import { NANOS_PER_MILLI, SimClock } from '../kernel/sim-clock.js';
import type { World } from './world.js';

/** One life of a process: its surroundings, and how it says that it has to end. */
export interface Life {
  readonly world: World;
  readonly host: Host;
  readonly clock: SimClock;
  readonly random: Random;
  /** The process exits; whoever supervises it starts another. */
  readonly exit: (why: string) => void;
}

interface Rival extends Pick<Life, 'host'> {
  readonly replacedAt: number;
}

const RESTART_MILLIS = { least: 20, most: 1_200 };
const MOST_DRIFT = 200;
/** A standstill that is longer is noticed by whoever looks at the time now and then. */
const UNNOTICED_MILLIS = 500;

/** A process and its supervisor: whatever ends the one, the other starts it anew. */
export class Unit {
  private current: Life | undefined;
  /** Those that others were started beside. */
  private readonly rivals: Rival[] = [];
  private lives = 0;
  private drifting = 0;
  /** Since when the current process has been all that it is to be; undefined while it starts. */
  private readySince: number | undefined;
  private readonly random: Random;

  constructor(
    readonly name: string,
    private readonly world: World,
    private readonly boot: (life: Life) => Promise<void>,
  ) {
    this.random = world.random.fork(name);
  }

  get life(): Life | undefined {
    return this.current;
  }

  /** In how many of its lives the clock went a good deal too fast or too slow. */
  get drifts(): number {
    return this.drifting;
  }

  get starts(): number {
    return this.lives;
  }

  /** For so long has another one been ready beside those that it has replaced; undefined where none of them is left. */
  get replacedForMillis(): number | undefined {
    if (!this.rivals.some(({ host }) => host.isAlive)) return undefined;
    return this.readySince === undefined ? 0 : (this.world.scheduler.now - this.readySince) / NANOS_PER_MILLI;
  }

  /** Whether one of those that were replaced went on by then as if nothing had been, for it has not stood still for long enough to notice. */
  wentOn(atMillis: number): boolean {
    const at = atMillis * NANOS_PER_MILLI;
    return this.rivals.some(
      ({ host, replacedAt }) => replacedAt <= at && host.ranOn(at, UNNOTICED_MILLIS * NANOS_PER_MILLI),
    );
  }

  /** Since when its process has been all that it is to be; undefined where it is not. */
  get readyMillis(): number | undefined {
    return this.readySince === undefined ? undefined : this.readySince / NANOS_PER_MILLI;
  }

  start(): void {
    const { world, name } = this;
    this.lives += 1;
    this.readySince = undefined;
    const random = this.random.fork(String(this.lives));
    const drift = random.between(-MOST_DRIFT, MOST_DRIFT);
    if (Math.abs(drift) > MOST_DRIFT / 2) this.drifting += 1;
    const host = new Host(name, world.scheduler);
    const life: Life = {
      world,
      host,
      clock: new SimClock(world.scheduler, host, drift),
      random,
      exit: (why) => {
        world.trace.note(`${name}: exits, ${why}`);
        this.crash(life);
      },
    };
    this.current = life;
    world.trace.note(`${name}: starts`);
    world.scheduler.after(0, host, () => {
      this.boot(life).then(
        () => {
          if (life === this.current) this.readySince = world.scheduler.now;
        },
        (error: unknown) => {
          life.exit(`it cannot start: ${error instanceof Error ? error.message : String(error)}`);
        },
      );
    });
  }

  /** As after kill -9, or the end of a process that has given up. */
  crash(life = this.current): void {
    if (life?.host.isAlive !== true) return;
    life.host.die();
    if (life !== this.current) return;
    this.leave();
  }

  /** The process stands still, and its supervisor takes it for dead: another one is started beside it. */
  replace(): void {
    const { current } = this;
    if (current === undefined) return;
    current.host.pause();
    this.rival();
  }

  /** Two supervisors: another one is started beside a process that goes on. */
  rival(): void {
    const { current } = this;
    if (current === undefined) return;
    this.rivals.push({ host: current.host, replacedAt: this.world.scheduler.now });
    this.leave();
  }

  pause(): void {
    this.current?.host.pause();
  }

  resumeAll(): void {
    for (const life of [...this.rivals, ...(this.current === undefined ? [] : [this.current])]) {
      life.host.resume();
    }
  }

  /** There is no current process, until the supervisor has started one. */
  private leave(): void {
    this.current = undefined;
    this.readySince = undefined;
    const { least, most } = RESTART_MILLIS;
    const wait = this.random.between(least, most) * NANOS_PER_MILLI;
    this.world.scheduler.after(wait, undefined, () => {
      if (this.current === undefined) this.start();
    });
  }
}

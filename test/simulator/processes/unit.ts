import { Host } from '../kernel/host.js';
import type { Random } from '../kernel/random.js';
import { NANOS_PER_MILLI, SimClock } from '../kernel/sim-clock.js';
import type { World } from './world.js';

/** One run of a process: its environment, and how it ends itself. */
export interface Life {
  readonly world: World;
  readonly host: Host;
  readonly clock: SimClock;
  readonly random: Random;
  /** The process exits; its supervisor starts another. */
  readonly exit: (why: string) => void;
}

interface Rival extends Pick<Life, 'host'> {
  readonly replacedAt: number;
}

const RESTART_MILLIS = { least: 20, most: 1_200 };
const MOST_DRIFT = 200;
/** A longer pause is noticed by the process's own timers. */
const UNNOTICED_MILLIS = 500;

/** A process and its supervisor, which restarts the process whenever it ends. */
export class Unit {
  private current: Life | undefined;
  /** Earlier processes that were replaced while they still ran. */
  private readonly rivals: Rival[] = [];
  private lives = 0;
  private drifting = 0;
  /** When the current process became ready; undefined while it starts. */
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

  /** The number of its runs whose clock was much too fast or too slow. */
  get drifts(): number {
    return this.drifting;
  }

  get starts(): number {
    return this.lives;
  }

  /** How long a successor has been ready while a replaced process still exists; undefined if none exists. */
  get replacedForMillis(): number | undefined {
    if (!this.rivals.some(({ host }) => host.isAlive)) return undefined;
    return this.readySince === undefined ? 0 : (this.world.scheduler.now - this.readySince) / NANOS_PER_MILLI;
  }

  /** Whether a replaced process still ran at that time, and was not paused long enough to notice. */
  wentOn(atMillis: number): boolean {
    const at = atMillis * NANOS_PER_MILLI;
    return this.rivals.some(
      ({ host, replacedAt }) => replacedAt <= at && host.ranOn(at, UNNOTICED_MILLIS * NANOS_PER_MILLI),
    );
  }

  /** When its process became ready; undefined if it is not ready. */
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

  /** Like kill -9, or like a process that gave up. */
  crash(life = this.current): void {
    if (life?.host.isAlive !== true) return;
    life.host.die();
    if (life !== this.current) return;
    this.leave();
  }

  /** The process is paused, and its supervisor believes it dead and starts another. */
  replace(): void {
    const { current } = this;
    if (current === undefined) return;
    current.host.pause();
    this.rival();
  }

  /** Two supervisors: another process is started although this one goes on. */
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

  /** There is no current process until the supervisor has started one. */
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

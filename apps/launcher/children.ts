import path from 'node:path';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { SupervisedChild } from '#libs/platform/supervision/child.js';
import { LogFile } from '#libs/platform/supervision/log-file.js';
import { markerEnvironment, type ClusterMarker } from '#libs/platform/supervision/marker.js';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { childEnvironment, type ProcessPlan } from './processes.js';
import type { LauncherTerminal } from './terminal.js';

/** How a process begins the log line that explains why it gives up. */
const LAST_WORDS = 'fatal ';

/** How a process ended before the cluster was ready. */
interface Ending {
  readonly count: number;
  readonly how: string;
  /** The process's own last log lines. */
  readonly said: readonly string[];
}

/** Exit codes after which a restart cannot help. */
const FINAL_EXIT_CODES: ReadonlyMap<string, number> = new Map(
  [EXIT.config, EXIT.damaged].map((code) => [`exit code ${code}`, code]),
);

export function hopelessCode(how: string): number | undefined {
  return FINAL_EXIT_CODES.get(how);
}

export interface ChildrenSettings {
  readonly appsFolder: string;
  readonly logFolder: string;
  /**
   * The operator's environment. Settings that the launcher does not set pass through to the processes that
   * read them.
   */
  readonly env: Environment;
  readonly marker: ClusterMarker;
  readonly clock: Clock;
  readonly terminal: LauncherTerminal;
}

export interface PlacedProcess {
  readonly plan: ProcessPlan;
  readonly internalPort: number;
}

export function internalUrl({ internalPort }: PlacedProcess): string {
  return `http://127.0.0.1:${internalPort}`;
}

interface Member extends PlacedProcess {
  readonly child: SupervisedChild;
  readonly log: LogFile;
}

export class Children {
  private readonly members: Member[];
  /** Endings before the cluster is ready: a start that cannot succeed is reported, not repeated. */
  readonly endings = new Map<string, Ending>();
  /** Last words of a process, kept until its exit code is known. */
  private readonly lastWords = new Map<string, string[]>();
  private isReady = false;

  constructor(
    private readonly settings: ChildrenSettings,
    places: readonly PlacedProcess[],
    private readonly onStart: (place: PlacedProcess, pid: number) => void,
  ) {
    this.members = places.map((place) => this.member(place));
  }

  async start(): Promise<void> {
    await Promise.all(this.members.map(({ log }) => log.start()));
    for (const { child } of this.members) child.start();
  }

  /** After this every process that ends is restarted, whatever its exit code. */
  setReady(): void {
    this.isReady = true;
  }

  logPath(name: string): string {
    return path.join(this.settings.logFolder, `${name}.log`);
  }

  /** Stops stage by stage; the processes of a stage stop at the same time. */
  async stop(): Promise<void> {
    const stages = Map.groupBy(this.members, ({ plan }) => plan.kind.stop.order);
    for (const [, stage] of [...stages].sort(([left], [right]) => left - right)) {
      await Promise.all(stage.map(({ child, plan }) => child.stop(plan.kind.stop.withinMs)));
    }
    await Promise.all(this.members.map(({ log }) => log.readOn()));
    for (const { log } of this.members) log.stop();
  }

  kill(): void {
    for (const { child } of this.members) child.kill();
  }

  private member(place: PlacedProcess): Member {
    const { plan } = place;
    const { terminal, clock, appsFolder } = this.settings;
    const log = new LogFile(this.logPath(plan.name), (line) => this.reportLine(plan.name, line));
    const spec = {
      name: plan.name,
      script: path.resolve(appsFolder, plan.script),
      env: {
        ...childEnvironment(this.settings.env, plan, place.internalPort),
        ...markerEnvironment(this.settings.marker),
      },
    };
    const child = new SupervisedChild(spec, log, clock, {
      started: (pid) => this.onStart(place, pid),
      ended: (how, waitMs) => {
        const again = `starting it again${waitMs > 0 ? ` in ${waitMs} ms` : ''}`;
        const isFinal = !this.isReady && hopelessCode(how) !== undefined;
        if (isFinal) child.kill();
        // After the last lines of its log.
        void log.readOn().then(() => {
          const reasons = this.noteEnding(plan.name, how);
          if (isFinal) return;
          for (const line of reasons) terminal.problem(`${plan.name}: ${line}`);
          terminal.problem(`${plan.name} ended (${how}), ${again}`);
        });
      },
    });
    return { ...place, child, log };
  }

  private reportLine(name: string, line: string): void {
    if (this.isReady || !line.startsWith(LAST_WORDS)) this.settings.terminal.problem(`${name}: ${line}`);
    else this.lastWords.set(name, [...(this.lastWords.get(name) ?? []), line]);
  }

  private noteEnding(name: string, how: string): readonly string[] {
    const reasons = this.lastWords.get(name) ?? [];
    this.lastWords.delete(name);
    const count = (this.endings.get(name)?.count ?? 0) + 1;
    this.endings.set(name, { count, how, said: reasons.map((line) => line.slice(LAST_WORDS.length)) });
    return reasons;
  }
}

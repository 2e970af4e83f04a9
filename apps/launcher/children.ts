import path from 'node:path';
import type { Clock } from '#libs/platform/clock.js';
import type { Environment } from '#libs/platform/config.js';
import { SupervisedChild } from '#libs/platform/supervision/child.js';
import { LogFile } from '#libs/platform/supervision/log-file.js';
import { markerEnvironment, type ClusterMarker } from '#libs/platform/supervision/marker.js';
import { childEnvironment } from './child-environment.js';
import { kindRules, type ProcessPlan } from './processes.js';
import type { Terminal } from './terminal.js';

export interface ChildrenSettings {
  readonly appsFolder: string;
  readonly logFolder: string;
  /** The operator's environment: what the launcher does not set itself passes through to every process. */
  readonly env: Environment;
  readonly marker: ClusterMarker;
  readonly clock: Clock;
  readonly terminal: Terminal;
}

export interface Place {
  readonly plan: ProcessPlan;
  readonly internalPort: number;
}

interface Member extends Place {
  readonly child: SupervisedChild;
  readonly log: LogFile;
}

export class Children {
  private readonly members: Member[];
  /** Endings before the cluster is ready: a start that cannot succeed should say so rather than go on trying. */
  readonly endings = new Map<string, { count: number; how: string }>();

  constructor(
    private readonly settings: ChildrenSettings,
    places: readonly Place[],
    private readonly onStart: (place: Place, pid: number) => void,
  ) {
    this.members = places.map((place) => this.member(place));
  }

  async start(): Promise<void> {
    await Promise.all(this.members.map(({ log }) => log.start()));
    for (const { child } of this.members) child.start();
  }

  logPath(name: string): string {
    return path.join(this.settings.logFolder, `${name}.log`);
  }

  /** Stage by stage; within a stage all at once. */
  async stop(): Promise<void> {
    const stages = Map.groupBy(this.members, ({ plan }) => kindRules[plan.kind].stopOrder);
    for (const [, stage] of [...stages].sort(([left], [right]) => left - right)) {
      await Promise.all(stage.map(({ child, plan }) => child.stop(kindRules[plan.kind].stopWithinMs)));
    }
    await Promise.all(this.members.map(({ log }) => log.readOn()));
    for (const { log } of this.members) log.stop();
  }

  kill(): void {
    for (const { child } of this.members) child.kill();
  }

  private member(place: Place): Member {
    const { plan } = place;
    const { terminal, clock, appsFolder } = this.settings;
    const log = new LogFile(this.logPath(plan.name), (line) => terminal.problem(`${plan.name}: ${line}`));
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
        const count = (this.endings.get(plan.name)?.count ?? 0) + 1;
        this.endings.set(plan.name, { count, how });
        const again = `starting it again${waitMs > 0 ? ` in ${waitMs} ms` : ''}`;
        // Behind its own last words.
        void log.readOn().then(() => terminal.problem(`${plan.name} ended (${how}), ${again}`));
      },
    });
    return { ...place, child, log };
  }
}

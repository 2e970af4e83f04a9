import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { StartFault } from '../start-fault.js';

/** Where one broker of a cluster on this machine stands. */
export interface BrokerPlace {
  readonly id: number;
  readonly host: string;
  readonly port: number;
  readonly controllerPort: number;
  readonly folder: string;
}

export interface ClusterPlan {
  readonly clusterId: string;
  readonly jars: string;
  readonly brokers: readonly BrokerPlace[];
  readonly settings: Readonly<Record<string, string>>;
}

const USABLE_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 20_000;
const LOOK_MS = 100;
const HEAP = '-Xmx384m';

/** One Kafka process: broker and controller in one. */
export class Broker {
  private process: ChildProcess | undefined;

  constructor(
    readonly place: BrokerPlace,
    private readonly plan: ClusterPlan,
  ) {}

  get pid(): number | undefined {
    return this.process?.pid;
  }

  get logFile(): string {
    return path.join(this.place.folder, 'kafka.log');
  }

  async start(): Promise<void> {
    const { folder } = this.place;
    await mkdir(folder, { recursive: true });
    const properties = path.join(folder, 'server.properties');
    await writeFile(properties, propertiesOf(this.place, this.plan));
    if (!(await isThere(path.join(folder, 'data', 'meta.properties')))) {
      const format = ['kafka.tools.StorageTool', 'format', '-t', this.plan.clusterId, '-c', properties];
      const code = await this.ended(this.java(format));
      if (code !== 0)
        throw new StartFault(`the folder of broker ${this.place.id} cannot be prepared: see ${this.logFile}`);
    }
    this.process = this.java(['kafka.Kafka', properties]);
  }

  /** Resolves when the broker takes connections; rejects when it has ended instead. */
  async untilListening(): Promise<void> {
    const deadline = Date.now() + USABLE_WITHIN_MS;
    while (Date.now() < deadline) {
      if (this.process === undefined || this.process.exitCode !== null) break;
      if (await answers(this.place.host, this.place.port)) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    const log = await readFile(this.logFile, 'utf8').catch(() => '');
    throw new StartFault(
      `broker ${this.place.id} did not start: ${log.trim().split('\n').at(-1) ?? 'it said nothing'}`,
    );
  }

  async stop(): Promise<void> {
    const { process: running } = this;
    if (running === undefined) return;
    const ended = this.ended(running);
    running.kill('SIGTERM');
    const timer = setTimeout(() => running.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(timer);
    this.process = undefined;
  }

  signal(name: NodeJS.Signals): void {
    this.process?.kill(name);
  }

  private java(args: readonly string[]): ChildProcess {
    const log = openSync(this.logFile, 'a');
    const options = [
      HEAP,
      '-XX:+UseSerialGC',
      '-Djava.awt.headless=true',
      '-cp',
      path.join(this.plan.jars, '*'),
    ];
    const child = spawn('java', [...options, ...args], {
      stdio: ['ignore', log, log],
      cwd: this.place.folder,
    });
    closeSync(log);
    return child;
  }

  private async ended(child: ChildProcess): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    return await new Promise((resolve, reject) => {
      child.once('error', reject).once('exit', resolve);
    });
  }
}

function propertiesOf(place: BrokerPlace, { brokers, settings }: ClusterPlan): string {
  const copies = String(Math.min(3, brokers.length));
  const all: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': String(place.id),
    'controller.quorum.voters': brokers
      .map(({ id, host, controllerPort }) => `${id}@${host}:${controllerPort}`)
      .join(','),
    listeners: `PLAINTEXT://${place.host}:${place.port},CONTROLLER://${place.host}:${place.controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${place.host}:${place.port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': path.join(place.folder, 'data'),
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'message.max.bytes': String(20 * 1024 * 1024),
    'replica.fetch.max.bytes': String(20 * 1024 * 1024),
    'broker.session.timeout.ms': '6000',
    ...settings,
  };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => done(true)).once('error', () => done(false));
  });
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** What a service of docker-compose.yml says of its container, as far as it decides what runs in it. */
export interface ComposedService {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly secrets?: readonly { readonly source: string; readonly target: string }[];
}

/** Where on this machine what a container would find on its network and in its mounts is. */
export interface Machine {
  /** Of the variables that compose is given. */
  readonly given: Readonly<Record<string, string>>;
  /** In every value, each of the first is replaced by the second. */
  readonly places: readonly (readonly [string, string])[];
  /** What two containers could have alike, and two processes on one machine cannot. */
  readonly own: Readonly<Record<string, string>>;
}

export interface ContainerExit {
  readonly code: number | null;
  readonly output: string;
}

/** A container's process without the container: its command in its environment, and nothing of ours but where node is. */
export class Container {
  private readonly env: Record<string, string>;
  private lasting: ChildProcess | undefined;
  private said: Promise<string> = Promise.resolve('');

  constructor(
    readonly name: string,
    private readonly service: ComposedService,
    machine: Machine,
  ) {
    // The image says the first.
    this.env = { NODE_ENV: 'production', ...environmentOf(service, machine), ...machine.own };
  }

  /** Without arguments as `up` would run it, else as `run` would. */
  run(args: readonly string[] = [], input = ''): Promise<ContainerExit> {
    const { entrypoint = [], command = [] } = this.service;
    return endOf(this.launch([...entrypoint, ...(args.length > 0 ? args : command)]), input);
  }

  /** As the container engine asks. */
  async isHealthy(): Promise<boolean> {
    const [kind, ...command] = this.service.healthcheck?.test ?? [];
    if (kind !== 'CMD') throw new Error(`${this.name} has no health check`);
    return (await endOf(this.launch(command))).code === 0;
  }

  start(): void {
    this.lasting = this.launch(this.service.command ?? []);
    this.said = outputOf(this.lasting);
  }

  get hasEnded(): boolean {
    return this.lasting !== undefined && (this.lasting.exitCode ?? this.lasting.signalCode) !== null;
  }

  /** As `docker stop`; resolves with the exit code and all that it has said. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<ContainerExit | undefined> {
    const { lasting } = this;
    if (lasting === undefined) return undefined;
    if (!this.hasEnded) {
      const gone = once(lasting, 'exit');
      lasting.kill(signal);
      await gone;
    }
    return { code: lasting.exitCode, output: await this.said };
  }

  private launch([program, ...args]: readonly string[]): ChildProcess {
    if (program !== 'node') throw new Error(`${this.name} runs ${program ?? 'nothing'}`);
    return spawn(process.execPath, args, { env: this.env, stdio: ['pipe', 'pipe', 'pipe'] });
  }
}

function environmentOf(
  { environment = {} }: ComposedService,
  { given, places }: Machine,
): Record<string, string> {
  const entries = Object.entries(environment).map(([name, value]): [string, string] => {
    const filled = value.replaceAll(
      /\$\{([A-Z_]+):(?:\?[^}]*|-([^}]*))\}/g,
      (_all, variable: string, otherwise?: string) => {
        const found = given[variable] ?? otherwise;
        if (found === undefined) throw new Error(`compose would ask for ${variable}`);
        return found;
      },
    );
    return [name, places.reduce((mapped, [from, to]) => mapped.replaceAll(from, to), filled)];
  });
  return Object.fromEntries(entries);
}

async function outputOf({ stdout, stderr }: ChildProcess): Promise<string> {
  if (stdout === null || stderr === null) return '';
  return (await Promise.all([text(stdout), text(stderr)])).join('');
}

async function endOf(child: ChildProcess, input = ''): Promise<ContainerExit> {
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const [output, [code]] = await Promise.all([
    outputOf(child),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, output };
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** The parts of a service in docker-compose.yml that decide what runs in its container. */
export interface ComposedService {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly secrets?: readonly { readonly source: string; readonly target: string }[];
}

/** Where this machine has what a container finds on its network and in its mounts. */
export interface Machine {
  /** Variables given to compose. */
  readonly given: Readonly<Record<string, string>>;
  /** In every value, each first text is replaced by the second. */
  readonly places: readonly (readonly [string, string])[];
  /** Values that two containers may share, but two processes on one machine may not. */
  readonly own: Readonly<Record<string, string>>;
}

export interface ContainerExit {
  readonly code: number | null;
  readonly output: string;
}

/** A container's process without the container: its command in its environment. Only the path of node is this machine's. */
export class Container {
  private readonly env: Record<string, string>;
  private lasting: ChildProcess | undefined;
  private said: Promise<string> = Promise.resolve('');

  constructor(
    readonly name: string,
    private readonly service: ComposedService,
    machine: Machine,
  ) {
    // The image sets the first variable.
    this.env = { NODE_ENV: 'production', ...environmentOf(service, machine), ...machine.own };
  }

  /** Without arguments like `up`, otherwise like `run`. */
  run(args: readonly string[] = [], input = ''): Promise<ContainerExit> {
    const { entrypoint = [], command = [] } = this.service;
    return endOf(this.launch([...entrypoint, ...(args.length > 0 ? args : command)]), input);
  }

  /** Like the container engine's health check. */
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

  /** Like `docker stop`; resolves with the exit code and the output. */
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

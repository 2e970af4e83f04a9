import type { Clock } from '#libs/platform/time/clock.js';
import type { GatewayClient } from './gateway-client.js';
import type { OptionName } from './options.js';
import type { Report } from './report.js';

export interface Operand {
  readonly name: string;
  readonly optional?: true;
}

/** What was typed, taken apart. */
export interface Call {
  readonly operands: readonly string[];
  readonly options: Readonly<Partial<Record<OptionName, string | boolean>>>;
}

export interface CommandPorts {
  readonly gateway: GatewayClient;
  readonly report: Report;
  readonly clock: Clock;
  /** Aborted when whoever watches has seen enough. */
  readonly stop: AbortSignal;
}

export interface Command {
  /** What it is called by, such as `shard drain`. */
  readonly name: string;
  readonly operands: readonly Operand[];
  readonly options: readonly OptionName[];
  readonly summary: string;
  /** Paragraphs for whoever asks for help with this command. */
  readonly explanation: readonly string[];
  readonly examples: readonly string[];
  /** Resolves with the exit code. What is typed wrongly is a UsageFault, before the gateway is asked anything. */
  run(call: Call, ports: CommandPorts): Promise<number>;
}

import type { Clock } from '#libs/platform/time/clock.js';
import type { GatewayClient } from './gateway-client.js';
import type { CommandDeclaration, ParsedCall } from '#libs/platform/terminal/commands.js';
import type { OpsReport } from './report.js';

export interface OpsPorts {
  readonly gateway: GatewayClient;
  readonly report: OpsReport;
  readonly clock: Clock;
  /** Aborted when the operator has seen enough. */
  readonly stop: AbortSignal;
}

export interface OpsCommand extends CommandDeclaration {
  /** Resolves with the exit code. What is typed wrongly is a UsageFault, before the gateway is asked anything. */
  run(call: ParsedCall, ports: OpsPorts): Promise<number>;
}

import type { Environment } from '#libs/platform/settings/config.js';
import {
  type CommandArea,
  type CommandDeclaration,
  type ParsedCall,
  UsageFault,
} from '#libs/platform/terminal/commands.js';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { tellFault } from '#libs/platform/terminal/tool-faults.js';
import { ConfigFault, type StartFault } from '#libs/platform/process/start-fault.js';
import { CommandFault } from './ops/arguments.js';
import { asToolFault } from './tool-fault.js';

export interface CallContext {
  readonly environment: Environment;
  /** The raw arguments. They decide whether a fault is printed as text or as JSON. */
  readonly args: readonly string[];
}

/** One area of commands. */
export interface Program {
  readonly area: CommandArea;
  /** Resolves with the exit code. `call` is the command line that help shows before the arguments. */
  run(context: CallContext, call?: string): Promise<number>;
}

/** A fault that an operator can fix is one line. Anything else is a bug and keeps its stack. */
export function program<C extends CommandDeclaration>(
  area: CommandArea<C>,
  runCommand: (call: ParsedCall<C>, context: CallContext) => Promise<number>,
  faultOf: (error: unknown) => StartFault | undefined = asToolFault,
): Program {
  return {
    area,
    async run(context, call) {
      try {
        const parsed = parseCall(area, context.args, call);
        if (!('help' in parsed)) return await runCommand(parsed, context);
        print(parsed.help);
        return 0;
      } catch (error) {
        const fault = faultOf(error);
        if (fault === undefined) throw error;
        tellFault(area.name, context.args, {
          message: fault.message,
          hint: hintFor(error),
          ...(fault instanceof ConfigFault ? { faults: fault.faults } : {}),
          ...(fault instanceof CommandFault ? { told: fault.told } : {}),
        });
        return fault.exitCode;
      }
    },
  };
}

function hintFor(error: unknown): string {
  if (!(error instanceof UsageFault)) return '';
  const { about = '' } = error;
  return `; see ${about === '' ? '' : `${about} `}--help`;
}

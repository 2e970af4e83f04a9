import { mention } from './standard-error.js';
import { asStartFault } from '../process/start-fault.js';
import { visible, visibleJson } from './visible-text.js';

/** True if JSON is requested. Also works for invalid arguments, whose fault is then reported as JSON. */
export function wantsJson(args: readonly string[]): boolean {
  return args.some((arg) => arg === 'json' || arg === '--output=json');
}

export interface ToolFault {
  readonly message: string;
  /** Several faults, with one line for each. */
  readonly faults?: readonly string[];
  /** Added to the text, such as where to read more. */
  readonly hint?: string;
  /** Further fields of the JSON form. */
  readonly told?: object;
}

/** Prints a fault as the last line on standard error. With `--output json` it is a JSON document, like results. */
export function tellFault(
  tool: string,
  args: readonly string[],
  { message, faults = [message], hint = '', told }: ToolFault,
): void {
  if (wantsJson(args)) mention(visibleJson({ ...told, message }));
  else mention(`${tool}: ${faults.map(visible).join('\n')}${hint}`);
}

/** Runs a program, prints a fault that an operator can repair, and resolves with the exit code. */
export async function codeOf(tool: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const fault = asStartFault(error);
    if (fault === undefined) throw error;
    tellFault(tool, [], fault);
    return fault.exitCode;
  }
}

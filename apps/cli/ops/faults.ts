import { StartFault } from '#libs/platform/process/start-fault.js';

export const EXIT_REFUSED = 1;
export const EXIT_INTERRUPTED = 130;

/** Why a command came to nothing: one line for people, and for programs what the gateway said. */
export class CommandFault extends StartFault {
  constructor(
    message: string,
    exitCode: number,
    readonly told: { readonly status?: number; readonly error?: string } = {},
  ) {
    super(message, exitCode);
  }
}

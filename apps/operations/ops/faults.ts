export const EXIT_REFUSED = 1;
export const EXIT_USAGE = 64;
export const EXIT_UNREACHABLE = 69;
export const EXIT_INTERRUPTED = 130;

/** Why a command came to nothing: one line for people, and for programs what the gateway said. */
export class CommandFault extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    readonly told: { readonly status?: number; readonly error?: string } = {},
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** What was typed is no command. `about` is what `--help` is to be asked about; nothing where the command is not known. */
export class UsageFault extends CommandFault {
  constructor(
    message: string,
    readonly about?: string,
  ) {
    super(message, EXIT_USAGE);
  }
}

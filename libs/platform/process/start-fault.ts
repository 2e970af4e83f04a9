/** sysexits(3) codes: supervisors and operators tell causes apart by them. */
export const EXIT = { usage: 64, damaged: 65, unavailable: 69, bug: 70, config: 78 } as const;

/** A reason not to start that the operator can mend: shown in one line, never with a stack trace. */
export class StartFault extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.unavailable,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** One line for every wrong setting. */
export class ConfigFault extends StartFault {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'), EXIT.config);
  }
}

interface CodedError {
  readonly code: string;
  readonly message: string;
  readonly port?: number;
  readonly address?: string;
  readonly path?: string;
}

/** Errors of Node and of Postgres; recognised by their shape, because they may come from another realm. */
export function isCodedError(error: unknown): error is CodedError {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
}

/** An unknown name, a name whose server does not reply, an address of another machine, no address. */
export const NO_ADDRESS_OF_OURS: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'EINVAL',
  'EAFNOSUPPORT',
]);

const LISTEN_FAULTS = new Map([
  ['EADDRINUSE', 'is taken by another process'],
  ['EADDRNOTAVAIL', 'does not exist on this machine'],
  ['EACCES', 'may not be listened on by this user'],
]);

const FILE_FAULTS = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'no space left on the device'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['EEXIST', 'it is not a folder'],
  ['EISDIR', 'it is a folder'],
  ['ERR_FS_EISDIR', 'it is a folder'],
  ['EDQUOT', 'the quota is used up'],
  ['EFBIG', 'no file may grow that large'],
  ['ELOOP', 'too many symbolic links'],
  ['ENAMETOOLONG', 'the name is too long'],
  ['EIO', 'the device has failed'],
  ['ESTALE', 'the file system is gone'],
]);

/** Turns a fault that the operator can mend into a StartFault; anything else is a bug and stays unchanged. */
export function asStartFault(error: unknown): StartFault | undefined {
  if (error instanceof StartFault) return error;
  if (!isCodedError(error)) return undefined;
  const { code, port, address, path } = error;
  const listening = LISTEN_FAULTS.get(code);
  if (port !== undefined && listening !== undefined)
    return new StartFault(`address ${address}:${port} ${listening}`);
  return path === undefined ? undefined : asFileFault(error, path);
}

/** For reads and writes in pieces, whose errors do not name the file. */
export function asFileFault(error: unknown, place: string): StartFault | undefined {
  const filing = isCodedError(error) ? FILE_FAULTS.get(error.code) : undefined;
  return filing === undefined ? undefined : new StartFault(`cannot use ${place}: ${filing}`);
}

/** Codes of sysexits(3), by which supervisors and operators distinguish causes. */
export const EXIT = { usage: 64, damaged: 65, unavailable: 69, bug: 70, config: 78 } as const;

/** A reason not to start that an operator can repair. Shown in one line and without a stack trace. */
export class StartFault extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.unavailable,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Wrong settings, with one line for each. */
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

/** Recognizes errors of Node and PostgreSQL by their shape, because they may come from another realm. */
export function isCodedError(error: unknown): error is CodedError {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
}

/** Codes for a host that is not an address of this machine: unknown, not resolvable, of another machine, or malformed. */
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

/** Turns an error that an operator can repair into a StartFault. Undefined for anything else, which is a bug. */
export function asStartFault(error: unknown): StartFault | undefined {
  if (error instanceof StartFault) return error;
  if (!isCodedError(error)) return undefined;
  const { code, port, address, path } = error;
  const reason = LISTEN_FAULTS.get(code);
  if (port !== undefined && reason !== undefined)
    return new StartFault(`address ${address}:${port} ${reason}`);
  return path === undefined ? undefined : asFileFault(error, path);
}

/** For reads and writes through a descriptor, whose errors do not name the file. */
export function asFileFault(error: unknown, file: string): StartFault | undefined {
  const reason = isCodedError(error) ? FILE_FAULTS.get(error.code) : undefined;
  return reason === undefined ? undefined : new StartFault(`cannot use ${file}: ${reason}`);
}

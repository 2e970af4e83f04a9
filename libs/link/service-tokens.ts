import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Cancel, type Clock, repeat } from '#libs/platform/time/clock.js';
import { type Config, defineConfig } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import { ConfigFault, isCodedError } from '#libs/platform/process/start-fault.js';
import { nonEmpty, secret } from '#libs/platform/settings/setting-types.js';

export const SHORTEST_TOKEN = 32;

/** The settings of every process at either end of a link. */
export const serviceTokenSettings = defineConfig({
  SERVICE_TOKEN: {
    schema: secret(SHORTEST_TOKEN).optional(),
    describe: 'Token that the processes of a cluster show each other; SERVICE_TOKEN_FILE takes precedence',
    secret: true,
  },
  SERVICE_TOKEN_FILE: {
    schema: nonEmpty().optional(),
    describe:
      'File of service tokens, one per line: the first is shown, all are accepted; read again when it changes',
  },
});

export function serviceTokenIsSet(config: Config<typeof serviceTokenSettings>): string | undefined {
  if (config.SERVICE_TOKEN !== undefined || config.SERVICE_TOKEN_FILE !== undefined) return undefined;
  return 'SERVICE_TOKEN is not set, nor is SERVICE_TOKEN_FILE: what gateways, owners and settlers show each other';
}

const POLL_MILLIS = 1_000;
/** An old token, a new one, and a spare one. */
const MAX_TOKENS = 3;
const FINGERPRINT_DIGITS = 8;
const MAX_BYTES = 4_096;
/** Without O_NONBLOCK, opening a pipe would wait forever for a writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

export interface ServiceTokens {
  /** The token to present. */
  shown(): string;
  /** All tokens that are valid now. */
  accepted(): readonly string[];
  /** Calls `listener` after each change, until cancelled. */
  onChange(handle: () => void): Cancel;
}

/** A token that never changes. */
export function fixedToken(token: string): ServiceTokens {
  return { shown: () => token, accepted: () => [token], onChange: () => () => undefined };
}

/**
 * Tokens from a file that is read again every second. A missing or invalid file changes nothing, because an editing mistake
 * must not disconnect the processes from each other.
 */
export class TokenFile implements ServiceTokens {
  private tokens: readonly string[];
  private readonly listeners = new Set<() => void>();
  private cancel: Cancel | undefined;
  private faulty = false;

  constructor(
    private readonly file: string,
    private readonly onFault: (error: Error) => void,
  ) {
    try {
      this.tokens = tokensIn(readSync(file));
    } catch (error) {
      throw new ConfigFault([`SERVICE_TOKEN_FILE=${JSON.stringify(file)} is wrong: ${messageOf(error)}`]);
    }
  }

  shown(): string {
    return this.tokens[0] ?? '';
  }

  accepted(): readonly string[] {
    return this.tokens;
  }

  onChange(handle: () => void): Cancel {
    this.listeners.add(handle);
    return () => this.listeners.delete(handle);
  }

  watch(clock: Clock): Cancel {
    this.cancel ??= repeat(clock, POLL_MILLIS, () => this.poll());
    return this.cancel;
  }

  async poll(): Promise<void> {
    try {
      const tokens = tokensIn(await read(this.file));
      this.faulty = false;
      if (tokens.join() === this.tokens.join()) return;
      this.tokens = tokens;
      for (const handle of this.listeners) handle();
    } catch (error) {
      if (!this.faulty) this.onFault(new Error(messageOf(error)));
      this.faulty = true;
    }
  }
}

function readSync(file: string): string {
  const opened = openSync(file, OPEN_FLAGS);
  try {
    refuseUnreadable(fstatSync(opened));
    return readFileSync(opened, 'utf8');
  } finally {
    closeSync(opened);
  }
}

async function read(file: string): Promise<string> {
  const opened = await open(file, OPEN_FLAGS);
  try {
    refuseUnreadable(await opened.stat());
    return await opened.readFile('utf8');
  } finally {
    await opened.close();
  }
}

function refuseUnreadable(stats: Stats): void {
  if (!stats.isFile()) throw new Error('it is no file');
  if (stats.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
}

export interface OpenedTokens {
  readonly tokens: ServiceTokens;
  readonly stop: Cancel;
}

/** The tokens from the settings. If they are in a file, starts to watch it. */
export function openServiceTokens(
  config: Config<typeof serviceTokenSettings>,
  clock: Clock,
  onFault: (error: Error) => void,
): OpenedTokens {
  if (config.SERVICE_TOKEN_FILE === undefined) {
    return { tokens: fixedToken(config.SERVICE_TOKEN ?? ''), stop: () => undefined };
  }
  const tokens = new TokenFile(config.SERVICE_TOKEN_FILE, onFault);
  return { tokens, stop: tokens.watch(clock) };
}

interface TokenWatchPorts {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'error'>;
  readonly scope: Pick<ProcessScope, 'onStop'>;
}

/**
 * Watches the tokens until the process ends. Logs an unusable file, and the fingerprints of the valid tokens: an operator who
 * replaces a token must know that all processes accept it before any of them presents it.
 */
export function watchServiceTokens(
  config: Config<typeof serviceTokenSettings>,
  { clock, log, scope }: TokenWatchPorts,
): ServiceTokens {
  const { tokens, stop } = openServiceTokens(config, clock, (error) => {
    log.error(
      { err: error },
      'the file with the service tokens cannot be used; the previous tokens stay valid',
    );
  });
  scope.onStop('service tokens', stop);
  const logTokens = (): void => {
    log.info(
      { service_tokens: tokens.accepted().map(fingerprintOf) },
      'these service tokens are accepted, and the first is presented',
    );
  };
  logTokens();
  tokens.onChange(logTokens);
  return tokens;
}

/** Identifies a token in logs without revealing it. */
function fingerprintOf(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, FINGERPRINT_DIGITS);
}

function tokensIn(text: string): readonly string[] {
  const tokens = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (tokens.length === 0) throw new Error('it holds no token');
  if (tokens.length > MAX_TOKENS) throw new Error(`it holds more than ${MAX_TOKENS} tokens`);
  if (tokens.some((token) => token.length < SHORTEST_TOKEN)) {
    throw new Error(`a token in it has less than ${SHORTEST_TOKEN} characters`);
  }
  return tokens;
}

/** The message never contains a token: errors of the file system name the file, and ours name the rule. */
function messageOf(error: unknown): string {
  return isCodedError(error) || error instanceof Error ? error.message : String(error);
}

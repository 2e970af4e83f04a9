import { EXIT } from '#libs/platform/process/start-fault.js';
import { CommandFault } from './arguments.js';
import type { GatewayClient, GatewayCredentials } from './gateway-client.js';
import { ask, askHidden, type PromptTerminal } from './hidden-prompt.js';
import type { GatewayPlace, OpsSettings } from './gateway-place.js';

export interface CredentialParts {
  readonly settings: OpsSettings;
  readonly place: GatewayPlace;
  /** Undefined where there is no terminal. */
  readonly terminal: PromptTerminal | undefined;
}

interface Login {
  readonly email: string;
  readonly password: string;
}

/**
 * Reads credentials from the environment or the keyboard. On the command line every process of the machine
 * could read them.
 */
export function credentialsFrom(
  parts: CredentialParts,
): (client: Pick<GatewayClient, 'logIn'>) => Promise<GatewayCredentials> {
  // Asked for once: the operator may have left a waiting command alone.
  let known: Promise<Login> | undefined;
  return async (client) => {
    const { OPS_TOKEN: token } = parts.settings;
    if (token !== undefined) return { token, mine: false };
    known ??= login(parts);
    const { email, password } = await known;
    return { token: await client.logIn(email, password), mine: true };
  };
}

async function login({ settings, place, terminal }: CredentialParts): Promise<Login> {
  const { OPS_EMAIL: email, OPS_PASSWORD: password } = settings;
  if (email !== undefined && password !== undefined) return { email, password };
  if (terminal === undefined) throw new CommandFault(missingCredentials(place), EXIT.usage);
  const who = email ?? (await ask('Operator (e-mail): ', terminal)).trim();
  return { email: who, password: password ?? (await askHidden(`Password of ${who}: `, terminal)) };
}

function missingCredentials({ demo }: GatewayPlace): string {
  const line = 'no credentials: set OPS_EMAIL and OPS_PASSWORD, or OPS_TOKEN';
  if (demo === undefined) return line;
  return `${line}. On this demo cluster: OPS_EMAIL=${demo.email} OPS_PASSWORD=${demo.password}`;
}

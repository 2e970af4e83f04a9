import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigFault, EXIT } from '#libs/platform/process/start-fault.js';
import { type Config, defineConfig } from '#libs/platform/settings/config.js';
import { httpUrl, nonEmpty } from '#libs/platform/settings/setting-types.js';
import { CommandFault } from './arguments.js';
import { UsageFault } from '#libs/platform/terminal/commands.js';

/** The token goes into a header, which allows nothing else. */
const oneWord = z.string().regex(/^[!-~]+$/, 'it must be one word of visible ASCII characters');

export const opsSettings = defineConfig({
  OPS_URL: { schema: nonEmpty().optional(), describe: 'URL of the gateway' },
  OPS_TOKEN: { schema: oneWord.optional(), describe: 'Session token of an operator', secret: true },
  OPS_EMAIL: { schema: nonEmpty().optional(), describe: 'E-mail of an operator' },
  OPS_PASSWORD: { schema: nonEmpty().optional(), describe: 'Password of OPS_EMAIL', secret: true },
  DATA_DIR: { schema: nonEmpty(), describe: 'Data folder of a local cluster', default: '.data' },
});

export const executionSettings = defineConfig({
  ...opsSettings,
  EXECUTION_URL: { schema: nonEmpty().optional(), describe: 'URL of order execution' },
});

export type OpsSettings = Config<typeof opsSettings>;

/** Where the gateway is, and on a local demo cluster the operator's login. */
export interface GatewayPlace {
  readonly url: string;
  readonly demo?: { readonly email: string; readonly password: string };
}

const clusterFile = z.object({
  ready: z.boolean(),
  gateway_url: z.string(),
  demo: z.object({
    password: z.string(),
    users: z.array(z.object({ email: z.string(), roles: z.array(z.string()) })),
  }),
});

export async function findPlace(urlOption: string | undefined, settings: OpsSettings): Promise<GatewayPlace> {
  if (urlOption !== undefined) return { url: plainUrl(urlOption, (what) => new UsageFault(`--url ${what}`)) };
  const { OPS_URL: url } = settings;
  if (url !== undefined)
    return { url: plainUrl(url, (what) => new ConfigFault([`OPS_URL is wrong: it ${what}`])) };
  const folder = path.resolve(settings.DATA_DIR);
  const text = await readFile(path.join(folder, 'cluster.json'), 'utf8').catch(() => undefined);
  const cluster = clusterFile.safeParse(text === undefined ? undefined : parsed(text));
  if (!cluster.success || !cluster.data.ready) {
    throw new CommandFault(
      `no cluster is running in ${folder}: give --url, or set OPS_URL or DATA_DIR`,
      EXIT.unavailable,
    );
  }
  const { gateway_url, demo } = cluster.data;
  const operator = demo.users.find(({ roles }) => roles.includes('OPERATOR'));
  if (operator === undefined) return { url: gateway_url };
  return { url: gateway_url, demo: { email: operator.email, password: demo.password } };
}

/** Credentials in the URL would never be sent. The URL is never printed, because it may hold a password. */
function plainUrl(url: string, fault: (what: string) => Error): string {
  if (!httpUrl().safeParse(url).success) throw fault('must be an http or https URL');
  const { username, password, origin, href } = new URL(url);
  if (username !== '' || password !== '')
    throw fault('must not hold a user: set OPS_EMAIL and OPS_PASSWORD, or OPS_TOKEN');
  if (href !== `${origin}/`) throw fault('must hold only a scheme, a host and a port');
  return url;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

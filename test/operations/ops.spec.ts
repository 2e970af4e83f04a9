import { describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { credentialsFrom } from '#apps/cli/ops/credentials.js';
import { CommandFault } from '#apps/cli/ops/arguments.js';
import { UsageFault } from '#libs/platform/terminal/commands.js';
import { askHidden } from '#apps/cli/ops/hidden-prompt.js';
import { OPS } from '#apps/cli/ops.js';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { OpsReport } from '#apps/cli/ops/report.js';
import { table } from '#apps/cli/ops/table.js';
import type { OpsSettings } from '#apps/cli/ops/gateway-place.js';

function settings(given: Partial<Record<'OPS_TOKEN' | 'OPS_EMAIL' | 'OPS_PASSWORD', string>>): OpsSettings {
  return {
    OPS_URL: undefined,
    OPS_TOKEN: undefined,
    OPS_EMAIL: undefined,
    OPS_PASSWORD: undefined,
    DATA_DIR: '.data',
    ...given,
  };
}

function complaint(args: string): string {
  try {
    parseCall(
      OPS,
      args.split(' ').filter((word) => word !== ''),
    );
    return 'understood';
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error;
    return error.message;
  }
}

describe('the command line', () => {
  it.each([
    ['', 'no command'],
    ['shards 1 http://mona:geheim@gateway', 'shards: what is "URL without --url"?'],
    ['shard drain 1 2', 'shard drain: what is "2"?'],
    ['shards --password x', "Unknown option '--password'"],
    ['shards --token x', "Unknown option '--token'"],
    ['--output json shard drain 1', 'understood'],
    ['shard drain 1 --wait --timeout 5 --reason why', 'understood'],
  ])('"%s": %s', (args, expected) => {
    expect(complaint(args)).toBe(expected);
  });

  it('asks for help with everything, with a family, and with one command', () => {
    const help = (args: string): string => {
      const parsed = parseCall(OPS, [...args.split(' ').filter((word) => word !== ''), '--help']);
      return 'help' in parsed ? parsed.help : '';
    };
    expect(help('')).toContain('halt impose');
    expect(help('halt')).toContain('halt lift');
    expect(help('halt')).not.toContain('shard drain');
    expect(help('halt impose')).toContain('--scope scope');
    expect(help('halt impose')).toMatch(/Examples:\n {2}npm run --silent sotto -- ops halt impose/);
    expect(help('halt impose')).not.toContain('--wait');
  });
});

describe('a table', () => {
  it('has columns as wide as their widest cell, and numbers to the right', () => {
    const lines = table<readonly [string, number | undefined]>(
      [
        { head: 'NAME', cell: ([name]) => name },
        { head: 'N', cell: ([, n]) => n },
      ],
      [
        ['a', 1],
        ['longer', 1_000],
        ['b', undefined],
      ],
    );
    expect(lines).toEqual(['NAME       N', 'a          1', 'longer  1000', 'b          -']);
  });
});

describe('a password at the prompt', () => {
  it('is not echoed', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const shown: string[] = [];
    output.on('data', (chunk) => shown.push(String(chunk)));
    const asked = askHidden('Password: ', { input, output });
    input.write('sec');
    input.write('ret\r');
    expect(await asked).toBe('secret');
    expect(shown.join('')).toBe('Password: \n');
  });

  it('may be cancelled', async () => {
    const input = new PassThrough();
    const asked = askHidden('Password: ', { input, output: new PassThrough() });
    input.end();
    await expect(asked).rejects.toThrow('interrupted');
  });
});

describe('the caller', () => {
  const logins: string[][] = [];
  const client = {
    logIn: (email: string, password: string): Promise<string> => {
      logins.push([email, password]);
      return Promise.resolve('fresh');
    },
  };
  const place = { url: 'http://127.0.0.1:1', demo: { email: 'op@demo', password: 'demo' } };

  it("is taken from a token first, and the terminal does not end the token's session", async () => {
    const given = settings({ OPS_TOKEN: 'given', OPS_EMAIL: 'a', OPS_PASSWORD: 'b' });
    const credentials = credentialsFrom({ settings: given, place, terminal: undefined });
    expect(await credentials(client)).toEqual({ token: 'given', mine: false });
    expect(logins).toEqual([]);
  });

  it('is taken from e-mail and password', async () => {
    const given = settings({ OPS_EMAIL: 'a', OPS_PASSWORD: 'b' });
    const credentials = credentialsFrom({ settings: given, place, terminal: undefined });
    expect(await credentials(client)).toEqual({ token: 'fresh', mine: true });
    expect(logins).toEqual([['a', 'b']]);
  });

  it('is an error without a prompt, with a hint only on a demo cluster', async () => {
    const asked = (where: typeof place | { url: string }) =>
      credentialsFrom({ settings: settings({ OPS_EMAIL: 'a' }), place: where, terminal: undefined })(client);
    await expect(asked(place)).rejects.toThrow(/OPS_EMAIL=op@demo OPS_PASSWORD=demo$/);
    await expect(asked({ url: place.url })).rejects.toThrow(/or OPS_TOKEN$/);
  });
});

describe('an error', () => {
  it('is one line, or one JSON document for programs', () => {
    const told: string[] = [];
    const silent = (): void => undefined;
    const err = (text: string): void => void told.push(text);
    const fault = new CommandFault('404 not_found', 1, { status: 404, error: 'not_found' });
    new OpsReport(silent, err, false, false).fault(fault);
    new OpsReport(silent, err, true, false).fault(fault);
    expect(told).toEqual([
      'ops: 404 not_found',
      '{"status":404,"error":"not_found","message":"404 not_found"}',
    ]);
  });
});

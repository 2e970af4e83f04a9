import path from 'node:path';
import { shellWord } from '#libs/platform/terminal/visible-text.js';
import type { StartedCluster } from './cluster.js';
import { settings } from './config.js';

/** What a new user needs next. Each command works as printed, from the folder of the project. */
export function welcome(cluster: StartedCluster, dataFolder: string): string {
  const [gateway = ''] = cluster.gatewayUrls;
  const { users, password } = cluster.seed;
  const { data } = cluster;
  const first = users[0]?.email ?? 'originator-1@demo.sotto';
  const login = `curl -s ${gateway}/auth/login -H 'content-type: application/json' -d '{"email":"${first}","password":"${password}"}'`;
  return [
    '',
    `  gateway    ${cluster.gatewayUrls.join(', ')}`,
    ...(cluster.executionUrl === undefined ? [] : [`  orders     ${cluster.executionUrl}`]),
    ...(data === undefined
      ? []
      : [`  data       ${data.data_url}`, `  companion  ${data.md_url}`, `  stream     ${data.stream_url}`]),
    `  database   ${masked(cluster.databaseUrl)}   (password in ${dataFolder}/cluster.json)`,
    `  logs       ${dataFolder}/logs`,
    `  users      ${demoNames(users.map(({ email }) => email))}`,
    `  password   ${password}`,
    '',
    '  Try:',
    `    ${dataDirSetting(dataFolder)}npm run demo`,
    ...tradingAdvice(cluster, dataFolder),
    ...dataAdvice(cluster),
    `    ${login}`,
    `    curl -s '${gateway}/v1/contracts?limit=5' -H "authorization: Bearer $(${login} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')"`,
    '',
    '  Ctrl-C stops everything.',
  ].join('\n');
}

/** Commands to try order execution, where it runs. */
function tradingAdvice({ executionUrl, seed }: StartedCluster, dataFolder: string): string[] {
  const [key] = seed.users.flatMap(({ api_keys: keys = [] }) => keys);
  if (executionUrl === undefined || key === undefined) return [];
  const { client_id: id, api_key: name, api_secret: secret } = key;
  return [
    `    ${dataDirSetting(dataFolder)}npm run demo -- trading`,
    `    curl -s ${executionUrl}/account/scopes -H 'x-client-id: ${id}' -H 'x-api-key: ${name}' -H 'x-api-secret: ${secret}'`,
    `    more keys: ${path.join(dataFolder, 'cluster.json')}; orders with them: docs/use/trading.md`,
  ];
}

/** A command to try market data, where it runs. */
function dataAdvice({ data, seed }: StartedCluster): string[] {
  const [key] = seed.users.flatMap(({ api_keys: keys = [] }) => keys);
  if (data === undefined || key === undefined) return [];
  const { client_id: id, api_key: name, api_secret: secret } = key;
  const credentials = `-H 'x-client-id: ${id}' -H 'x-api-key: ${name}' -H 'x-api-secret: ${secret}'`;
  const listed = `curl -s '${data.data_url}/markets/active?limit=1' ${credentials}`;
  const market = `$(${listed} | sed 's/.*"market_id":"\\([^"]*\\)".*/\\1/')`;
  const window = '-d timeframe_seconds=3600 -d start=2026-01-01T00:00:00Z -d end=$(date -u +%FT%TZ)';
  return [
    `    curl -sG ${data.data_url}/candles -d provider=venue_a ${window} -d contract_id="${market}" ${credentials}`,
  ];
}

/** The demo looks in the default folder unless DATA_DIR is set. */
function dataDirSetting(dataFolder: string): string {
  if (dataFolder === path.resolve(settings.DATA_DIR.default)) return '';
  return `DATA_DIR=${shellWord(dataFolder)} `;
}

function masked(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  return shown.href;
}

/** `maker-1..8@demo.sotto` instead of eight names. Load accounts are not shown. */
export function demoNames(emails: readonly string[]): string {
  const groups = new Map<string, { stem: string; domain: string; numbers: number[] }>();
  for (const email of emails) {
    const [, stem, digits, domain] = /^(.*?)-?(\d*)@(.*)$/.exec(email) ?? [];
    if (stem === undefined || domain === undefined || stem.startsWith('load-')) continue;
    const group = groups.get(stem) ?? { stem, domain, numbers: [] };
    if (digits !== undefined && digits !== '') group.numbers.push(Number(digits));
    groups.set(stem, group);
  }
  return [...groups.values()]
    .map(({ stem, domain, numbers }) => {
      if (numbers.length === 0) return `${stem}@${domain}`;
      const range =
        numbers.length === 1 ? String(numbers[0]) : `${Math.min(...numbers)}..${Math.max(...numbers)}`;
      return `${stem}-${range}@${domain}`;
    })
    .join(', ');
}

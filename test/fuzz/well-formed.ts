import type { WireRequest } from './wire.js';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const TARGET = /^\/(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*$/i;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
const HOST = /^[\w.-]+(?::\d+)?$/;
/** Of the connection itself, where what may follow depends on more than the bytes of one request. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set(['connection', 'expect', 'transfer-encoding', 'upgrade']);
/** Less than a server bounds them by. */
const HEAD = { bytes: 12_000, lines: 80 };

/**
 * Whether these bytes are one HTTP request, whole and beyond doubt, whatever it asks for: such a one is owed an answer. Of what is not,
 * a server may think as it likes.
 */
export function isWellFormed({ method, target, headers, body, isIncomplete }: WireRequest): boolean {
  if (isIncomplete || !METHODS.has(method) || !TARGET.test(target)) return false;
  const lines = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const valuesOf = (wanted: string): string[] =>
    lines.filter(([name]) => name === wanted).map(([, value]) => value);
  const [host, ...otherHosts] = valuesOf('host');
  const [length = '0', ...otherLengths] = valuesOf('content-length');
  const bytes = lines.reduce((sum, [name, value]) => sum + name.length + value.length + 4, target.length);
  return (
    lines.every(([name, value]) => NAME.test(name) && VALUE.test(value) && !OF_CONNECTIONS.has(name)) &&
    host !== undefined &&
    HOST.test(host) &&
    length === String(body.length) &&
    otherHosts.length + otherLengths.length === 0 &&
    bytes <= HEAD.bytes &&
    lines.length <= HEAD.lines
  );
}

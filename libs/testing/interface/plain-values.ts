import { createHash } from 'node:crypto';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z/g;
const TOKEN = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const PLAIN_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ5b3UifQ.c2lnbmF0dXJl';
/** The day on which all examples happen. */
const NOON = Date.parse('2026-11-20T12:00:00Z');
const LONG = /^[\w-]{100,}$/;
const MILLION = 1_000_000n;

/** Takes out of recorded values what is another in every run, so that two runs give the same examples. */
export class PlainValues {
  private readonly ids = new Map<string, string>();

  /** Of one exchange: its earliest instant becomes noon, and the distances between instants stay, to the millisecond. */
  of<Value>(value: Value): Value {
    const text = JSON.stringify(value);
    const first = [...text.matchAll(INSTANT)].map(([instant]) => instant).sort()[0];
    return this.plain(value, first) as Value;
  }

  private plain(value: unknown, first: string | undefined, name = ''): unknown {
    if (typeof value === 'string')
      return name.endsWith('cursor') ? this.cursor(value, first) : this.text(value, first);
    if (Array.isArray(value)) return value.map((element) => this.plain(element, first, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([field, inner]) => [field, this.plain(inner, first, field)]),
    );
  }

  private text(value: string, first: string | undefined): string {
    if (LONG.test(value)) return likeness(value);
    return value
      .replaceAll(TOKEN, PLAIN_TOKEN)
      .replaceAll(UUID, (id) => this.id(id))
      .replaceAll(INSTANT, (instant) => shifted(instant, first ?? instant));
  }

  private cursor(value: string, first: string | undefined): string {
    const position: unknown = JSON.parse(Buffer.from(value, 'base64url').toString());
    return Buffer.from(JSON.stringify(this.plain(position, first))).toString('base64url');
  }

  /** The first digit names the shard and the version how the id was made; both are kept. */
  private id(real: string): string {
    const known = this.ids.get(real);
    if (known !== undefined) return known;
    const hex = createHash('sha256').update(`example ${this.ids.size}`).digest('hex');
    const digits = real.replaceAll(/[0-9a-f]/g, (digit, at: number) =>
      KEPT.has(at) ? digit : (hex[at] ?? '0'),
    );
    this.ids.set(real, digits);
    return digits;
  }
}

const KEPT = new Set([0, 14, 19]);

/** As long as the real one, and the same in every run. */
function likeness(sealed: string): string {
  const filling = createHash('sha512').update('example').digest('base64url');
  return filling.repeat(Math.ceil(sealed.length / filling.length)).slice(0, sealed.length);
}

function shifted(instant: string, first: string): string {
  const millis = (nanosOf(instant) - nanosOf(first)) / MILLION;
  return new Date(NOON + Number(millis)).toISOString().replace('Z', '000000Z');
}

function nanosOf(instant: string): bigint {
  const seconds = BigInt(Date.parse(`${instant.slice(0, 19)}Z`)) * MILLION;
  return seconds + BigInt(instant.slice(20, 29));
}
